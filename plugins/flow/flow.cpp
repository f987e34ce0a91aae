// SPDX-License-Identifier: Apache-2.0
#include <soma/sdk.h>

#include <algorithm>

namespace flow {
namespace {

using namespace soma::sdk;

struct Identity : Node {
    static NodeType describe() {
        return NodeType{"flow.identity"}
            .doc("Returns its input itself.\n"
                 "It moves nothing: placed, it claims that the input is there already, and the host checks the claim.")
            .input("value", Kind::any, "anything")
            .output("value", Kind::any, "the same value")
            .reentrant()
            .differentiable()
            .example(R"({"tensor": [[1.0, 2.0], [3.0, 4.0]]})");
    }
    using Node::Node;

    Value forward(const Ctx&, Value input) { return input; }
};

struct To : Node {
    static NodeType describe() {
        return NodeType{"flow.to"}
            .doc("Moves every tensor of its input to the device it is placed on.\n"
                 "It takes no device of its own: `flow.to.on(\"cuda:0\")`. Unplaced, it returns its input itself.")
            .input("value", Kind::any, "anything")
            .output("value", Kind::any, "the same with its tensors on the node's device")
            .reentrant()
            .differentiable()
            .example(R"({"tensor": [[1.0, 2.0], [3.0, 4.0]]})");
    }
    using Node::Node;

    Value forward(const Ctx& ctx, const Value& input) { return obey(ctx, input); }
};

struct Join : Node {
    static NodeType describe() {
        return NodeType{"flow.join"}
            .doc("Makes one value of what the branches before it gave.\n"
                 "A list unless told otherwise. Tensors that lie on several devices are joined where the node is "
                 "placed.")
            .config(
                String("mode")
                    .choices({"list", "concat", "stack", "sum"})
                    .defaults("list")
                    .doc(
                        "`concat` joins tensors along a dimension they have, `stack` along a new one, `sum` adds them"))
            .config(Any("dim").doc("of concat (the last unless given) and stack (the first)"))
            .input("values", Kind::any, "the list of the branches' results; a single value counts as a list of one")
            .output("joined", Kind::any, "a list, or one tensor")
            .reentrant()
            .differentiable()
            .example(R"([{"tensor": [[1.0, 2.0]]}, {"tensor": [[3.0, 4.0]]}])");
    }

    explicit Join(const Create& create) : Node{create}, mode_{create.config().get_string("mode")} {
        if (!create.config().has("dim")) return;
        if (mode_ != "concat" && mode_ != "stack") {
            throw Error{Code::invalid_argument,
                        "`dim` says nothing to the mode `" + mode_ + "`, only to concat and stack"};
        }
        dim_ = create.config().get_int("dim");
    }

    Value forward(const Ctx& ctx, const Value& input) {
        if (mode_ == "list") {
            const Value placed = obey(ctx, input);
            return placed.is(Kind::list) ? placed : Value{List{placed}};
        }
        const std::vector<Tensor> tensors = together(ctx, tensors_of(input));
        if (mode_ == "concat") return cat(tensors, dim_.value_or(-1));
        if (mode_ == "stack") return stack(tensors, dim_.value_or(0));
        Tensor total = tensors.front();
        for (std::size_t i = 1; i < tensors.size(); ++i) total = total + tensors[i];
        return total;
    }

private:
    std::vector<Tensor> tensors_of(const Value& input) const {
        std::vector<Tensor> tensors;
        if (input.is(Kind::tensor)) return {Tensor{input}};
        if (!input.is(Kind::list)) {
            throw Error{Code::type_mismatch,
                        "cannot " + mode_ + " " + std::string{with_article(input.kind())} + ": it joins tensors"};
        }
        for (const Value& item : Items{input}) {
            if (!item.is(Kind::tensor)) {
                throw Error{Code::type_mismatch, "cannot " + mode_ + " " + std::string{with_article(item.kind())} +
                                                     " (at `[" + std::to_string(tensors.size()) +
                                                     "]`): it joins tensors; mode `list` takes anything"};
            }
            tensors.emplace_back(item);
        }
        if (tensors.empty()) throw Error{Code::invalid_argument, "cannot " + mode_ + " an empty list"};
        return tensors;
    }

    /// The tensors on one device: the node's, else the one they are all on.
    std::vector<Tensor> together(const Ctx& ctx, std::vector<Tensor> tensors) const {
        if (ctx.placed()) {
            for (Tensor& tensor : tensors) tensor = obey(ctx, tensor);
            return tensors;
        }
        std::vector<std::string> devices;
        for (const Tensor& tensor : tensors) {
            const std::string device{tensor.device()};
            if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
        }
        if (devices.size() == 1) return tensors;
        std::string listed;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            listed += (i == 0 ? "`" : i + 1 == devices.size() ? " and `" : ", `") + devices[i] + "`";
        }
        throw Error{Code::wrong_device, "cannot " + mode_ + " tensors on " + listed +
                                            ": place it, for example with `.on(\"" + devices.front() +
                                            "\")`, and it moves them there"};
    }

    std::string mode_;
    std::optional<std::int64_t> dim_;
};

} // namespace
} // namespace flow

SOMA_PLUGIN(soma::sdk::Plugin("flow", "0.1.0").doc("Joining and moving what flows.").license("Apache-2.0"),
            flow::Identity, flow::To, flow::Join)

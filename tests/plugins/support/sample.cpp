// SPDX-License-Identifier: Apache-2.0
// Nodes that show what the SDK gives their authors, and some that misbehave on purpose.
#include <soma/sdk.h>

#include "ops.h"

namespace sample {
namespace {

using namespace soma::sdk;

struct Context : Node {
    static NodeType describe() { return NodeType{"sample.ctx"}.doc("Says what it was told, as text.").reentrant(); }
    using Node::Node;

    Value forward(const Ctx& ctx, const Value&) {
        return Dict{{"text", ctx.str()},
                    {"device", ctx.device()},
                    {"placed", ctx.placed()},
                    {"node", ctx.node_id()},
                    {"grad", ctx.grad_mode()},
                    {"training", ctx.training()},
                    {"cancelled", ctx.cancelled()},
                    {"host", host_version()}};
    }
};

/// Knows nothing of tensors, only how to say where it is.
struct Box {
    static constexpr const char* type_id = "sample.box/1";
    soma_place where;
    soma_place place() const { return where; }
};

/// Has nothing to say of where it is.
struct Note {
    static constexpr const char* type_id = "sample.note/1";
    std::string text;
};

struct BoxNode : Node {
    static NodeType describe() {
        return NodeType{"sample.box"}
            .doc("Gives an opaque value that says it is on a device.")
            .config(Int("kind").required())
            .config(Int("index").defaults(0));
    }
    explicit BoxNode(const Create& create)
        : Node{create}, where_{static_cast<std::int32_t>(create.config().get_int("kind")),
                               static_cast<std::int32_t>(create.config().get_int("index"))} {}
    Value forward(const Ctx&, const Value&) { return Opaque<Box>::make(Box{where_}); }

private:
    soma_place where_;
};

struct NoteNode : Node {
    static NodeType describe() { return NodeType{"sample.note"}.doc("Wraps a text in an opaque value."); }
    using Node::Node;
    Value forward(const Ctx&, const Value& input) { return Opaque<Note>::make(Note{std::string{input.as_string()}}); }
};

struct Unwrap : Node {
    static NodeType describe() { return NodeType{"sample.unwrap"}.doc("Reads the text out of what sample.note gave."); }
    using Node::Node;
    Value forward(const Ctx&, const Value& input) { return Opaque<Note>::get(input).text; }
};

struct Throws : Node {
    static NodeType describe() {
        return NodeType{"sample.throws"}
            .doc("Fails.")
            .config(String("what").required())
            .config(Bool("when_made").defaults(false));
    }
    explicit Throws(const Create& create) : Node{create}, what_{create.config().get_string("what")} {
        if (create.config().get_bool("when_made")) fail();
    }
    Value forward(const Ctx&, const Value& input) {
        fail();
        return input;
    }

private:
    void fail() const {
        if (what_ == "error") throw Error{Code::unavailable, "the well is dry"};
        if (what_ == "std") throw std::runtime_error{"a standard exception"};
        if (what_ == "int") throw 42;
        if (what_ == "memory") throw std::bad_alloc{};
        if (what_ == "host") static_cast<void>(Value{"text"}.as_int());
        if (what_ == "config") static_cast<void>(Config{Dict{{"dim", "five"}}}.get_int("dim"));
        if (what_ == "cause") {
            try {
                static_cast<void>(Value{"text"}.as_int());
            } catch (const Error& error) {
                throw Error{Code::invalid_argument, "the outer reason", error};
            }
        }
        if (what_ == "operator") static_cast<void>(call("aten::matmull", "", {1}));
    }

    std::string what_;
};

struct Echo : Node {
    static NodeType describe() {
        return NodeType{"sample.echo"}.doc("Takes its input apart and puts it together anew.").reentrant();
    }
    using Node::Node;
    Value forward(const Ctx&, const Value& input) { return again(input); }

private:
    static Value again(const Value& value) {
        switch (value.kind()) {
        case Kind::none: return nullptr;
        case Kind::boolean: return value.as_bool();
        case Kind::integer: return value.as_int();
        case Kind::floating: return value.as_float();
        case Kind::string: return value.as_string();
        case Kind::bytes: return Value::bytes(value.as_bytes().data(), value.as_bytes().size());
        case Kind::list: {
            List list;
            for (const Value& item : Items{value}) list.add(again(item));
            return list;
        }
        case Kind::dict: {
            Dict dict;
            for (std::size_t i = 0; i < value.size(); ++i) dict.set(value.key(i), again(value.at(value.key(i))));
            return dict;
        }
        default: return value;
        }
    }
};

struct Stays : Node {
    static NodeType describe() {
        return NodeType{"sample.stays"}.doc("Ignores where it is placed and stays on the cpu.");
    }
    using Node::Node;
    Value forward(const Ctx&, const Value&) { return List{"fine", Dict{{"mask", zeros({2})}}}; }
};

struct Writes : Node {
    static NodeType describe() { return NodeType{"sample.writes"}.doc("Writes into its input."); }
    using Node::Node;
    Value forward(const Ctx&, const Value& input) { return call("aten::add_", "Scalar", {input, 1}); }
};

/// x² by raw memory: autograd sees nothing of it, the node says its gradient itself.
struct Square : Node {
    static NodeType describe() {
        return NodeType{"sample.square"}
            .doc("Squares float64 numbers with raw memory.")
            .differentiable()
            .example(R"({"tensor": [1.0, -2.0, 3.0], "dtype": "float64"})");
    }
    using Node::Node;

    Done forward(const Ctx& ctx, const Value& input) {
        const Tensor x = detach(Tensor{obey(ctx, input), "the input"});
        if (x.place().kind == SOMA_DEVICE_META) return Done{zeros_like(x)}.save(x);
        std::vector<double> numbers = to_vector<double>(x);
        for (double& number : numbers) number *= number;
        return Done{from_vector(std::move(numbers), x.sizes(), x.device())}.save(x);
    }
    static Value backward(const Value& saved, const Value& grads) {
        return List{2 * Tensor{saved} * Tensor{grads.at(0)}};
    }
};

/// A part of a node with a tensor of its own.
struct Part : Module {
    Part(Module& parent, Init& init) : Module{parent, "part"}, scale{parameter("scale", init.normal({2}))} {}
    const Tensor& scale;
};

struct Keeps : Node {
    static NodeType describe() {
        return NodeType{"sample.keeps"}
            .doc("Has a parameter, one in a part, a buffer, and a buffer that is not saved.")
            .differentiable();
    }
    explicit Keeps(const Create& create)
        : Node{create}, init_{create}, weight_{parameter("weight", init_.uniform({2}, 1))}, part_{*this, init_},
          steps_{buffer("steps", from_vector<std::int64_t>({1, 2}, {2}))}, scratch_{
                                                                               buffer("scratch", zeros({2}), false)} {}
    Tensor forward(const Ctx& ctx, const Value& input) {
        const Tensor x = obey(ctx, *this, as_tensor(input));
        return x * weight_ * part_.scale + steps_ + scratch_;
    }

private:
    Init init_;
    const Tensor& weight_;
    Part part_;
    const Tensor& steps_;
    const Tensor& scratch_;
};

struct Noise : Node {
    static NodeType describe() { return NodeType{"sample.noise"}.doc("Random numbers where it is placed.").random(); }
    using Node::Node;
    Tensor forward(const Ctx& ctx, const Value&) { return randn({4}, ctx.generator(), ctx.device().value_or("cpu")); }
};

struct Ops : Node {
    static NodeType describe() {
        return NodeType{"sample.ops"}.doc("One operation of the SDK.").config(String("name").required());
    }
    explicit Ops(const Create& create) : Node{create}, operation_{find_operation(create.config().get_string("name"))} {}
    Value forward(const Ctx&, const Value& input) {
        std::vector<Tensor> arguments;
        for (const Value& item : Items{input}) arguments.emplace_back(item);
        return operation_(arguments);
    }

private:
    Operation operation_;
};

const char* const answer = "forty-two";

} // namespace

struct Doubles : Node {
    static NodeType describe() { return NodeType{"sample.doubles"}.doc("Takes nothing but a tensor."); }
    using Node::Node;
    Tensor forward(const Ctx&, const Tensor& input) { return input + input; }
};

struct Extended : Node {
    static NodeType describe() { return NodeType{"sample.extended"}.doc("Has a table for an extension."); }
    using Node::Node;
    Value forward(const Ctx&, Value input) { return input; }
    static const void* get_extension(std::string_view id) { return id == "sample.answer/1" ? answer : nullptr; }
};

} // namespace sample

SOMA_PLUGIN(
    soma::sdk::Plugin("sample", "1.2.3").doc("For tests.").author("the tests").license("Apache-2.0").url("about:blank"),
    sample::Context, sample::BoxNode, sample::NoteNode, sample::Unwrap, sample::Throws, sample::Echo, sample::Stays,
    sample::Writes, sample::Square, sample::Keeps, sample::Noise, sample::Ops, sample::Doubles, sample::Extended)

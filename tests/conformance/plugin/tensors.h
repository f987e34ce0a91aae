// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "place.h"

#include <map>
#include <mutex>

/// Nodes that compute with tensors, well and badly.
namespace probe {

/// Its input on the device it was told; untouched when it was told none.
class Obey : public Node {
public:
    static NodeType describe() { return NodeType{"probe.obey"}.doc("Moves.").reentrant().differentiable(); }
    using Node::Node;
    Value forward(const Ctx& ctx, const Value& input) { return obey(ctx, input); }
};

/// input × weight, element by element; `weight` is a parameter of `size` numbers.
class Scale : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.scale"}
            .doc("Scales.")
            .config(Int("size").defaults(4).min(0))
            .config(Float("start").defaults(0.5))
            .differentiable();
    }
    explicit Scale(const Create& create)
        : Node{create}, weight_{parameter("weight",
                                          full({create.config().get_int("size")}, create.config().get_float("start"),
                                               create.device() == "meta" ? "meta" : "cpu"))} {}
    Value forward(const Ctx& ctx, const Value& input) { return obey(ctx, *this, Tensor{input, "the input"}) * weight_; }

private:
    const Tensor& weight_;
};

/// The sum of a list of tensors, on the device it was told.
class Sum : public Node {
public:
    static NodeType describe() { return NodeType{"probe.sum"}.doc("Adds tensors.").reentrant().differentiable(); }
    using Node::Node;
    Value forward(const Ctx& ctx, const Value& input) {
        std::optional<Tensor> sum;
        for (const Value& item : Items{input}) {
            const Tensor here = obey(ctx, Tensor{item});
            sum = sum ? *sum + here : here;
        }
        return sum ? Value{*sum} : Value{};
    }
};

/// Multiplies matrices for a while; gives the product.
class Matmul : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.matmul"}.doc("Multiplies.").config(Int("times").defaults(1)).reentrant();
    }
    explicit Matmul(const Create& create) : Node{create}, times_{create.config().get_int("times")} {}
    Value forward(const Ctx& ctx, const Value& input) {
        const Tensor x = obey(ctx, Tensor{input});
        Tensor y = x;
        for (std::int64_t i = 0; i < times_; ++i) y = tanh(mm(x, y));
        return y;
    }

private:
    std::int64_t times_;
};

/// Writes to its input in the way `through` says; gives it. Of a list it takes the item `item`.
class InPlace : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.inplace"}
            .doc("Writes to its input.")
            .config(String("through").defaults("dispatcher").choices({"dispatcher", "view", "out", "dlpack"}))
            .config(Int("item").defaults(0));
    }
    explicit InPlace(const Create& create)
        : Node{create}, through_{create.config().get_string("through")}, item_{create.config().get_int("item")} {}
    Value forward(const Ctx&, const Value& input) {
        const Tensor x{input.is(Kind::list) ? input.at(static_cast<std::size_t>(item_)) : input};
        if (through_ == "dispatcher") {
            call("aten::add_", "Scalar", {x, 1});
        } else if (through_ == "view") {
            call("aten::mul_", "Scalar", {narrow(x, 0, 0, 1), 2});
        } else if (through_ == "out") {
            call("aten::add", "out", {x, x}, {{"out", x}});
        } else {
            Memory<float> memory{x};
            memory[0] += 1;
        }
        return x;
    }

private:
    std::string through_;
    std::int64_t item_;
};

/// Ignores where it was told to run: computes on cpu and leaves the result there.
class Stubborn : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.stubborn"}.doc("Computes on cpu.").config(Bool("nested").defaults(false)).reentrant();
    }
    explicit Stubborn(const Create& create) : Node{create}, nested_{create.config().get_bool("nested")} {}
    Value forward(const Ctx& ctx, const Value& input) {
        const Tensor there = obey(ctx, Tensor{input});
        const Tensor here = ones(there.sizes(), "cpu");
        if (!nested_) return here;
        return List{there, Value{Dict{{"ids", there}, {"mask", here}}}};
    }

private:
    bool nested_;
};

/// Obeys, but picks rows with an index that it makes on another device.
class WrongIndex : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.wrong_index"}.doc("Picks rows.").config(String("at").defaults("cpu")).reentrant();
    }
    explicit WrongIndex(const Create& create) : Node{create}, at_{create.config().get_string("at")} {}
    Value forward(const Ctx& ctx, const Value& input) {
        return index_select(obey(ctx, Tensor{input}), 0, arange(0, 2, at_));
    }

private:
    std::string at_;
};

/// Random numbers from the context's generator.
class Random : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.random"}.doc("Draws.").config(Int("size").defaults(16)).reentrant().random();
    }
    explicit Random(const Create& create) : Node{create}, size_{create.config().get_int("size")} {}
    Value forward(const Ctx& ctx, const Value&) {
        return randn({size_}, ctx.generator(), ctx.device().value_or("cpu"));
    }

private:
    std::int64_t size_;
};

/// Scales by a parameter that all nodes with the same key share: one tensor, not a copy each.
class Tied : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.tied"}.doc("Shares its weight.").config(String("key").defaults("tied")).differentiable();
    }
    explicit Tied(const Create& create) : Node{create} {
        weights_.push_back({"weight", shared(create.config().get_string("key")), SOMA_STATE_PARAMETER, true});
        moved(create.device());
    }
    Value forward(const Ctx& ctx, const Value& input) {
        const Tensor& weight = weights_.front().tensor;
        moved(ctx.device());
        return obey(ctx, Tensor{input, "the input"}).to(weight.device()) * weight;
    }

    /// Instead of the module's own: those are made anew for every node.
    const std::deque<Entry>& entries() const noexcept { return weights_; }
    void set(std::string_view, const Value& value) { weights_.front().tensor = Tensor{value}; }
    void moved(std::optional<std::string_view> device) {
        const Tensor& weight = weights_.front().tensor;
        if (!device || weight.device() == *device) return;
        check(api().state_to(host(), weight.get(), soma_string{device->data(), device->size()}));
    }

private:
    static Tensor shared(const std::string& key) {
        static std::mutex mutex;
        static std::map<std::string, Tensor> weights;
        const std::lock_guard<std::mutex> lock{mutex};
        Tensor& weight = weights[key];
        if (!weight.defined()) {
            weight = full({4}, 0.5);
            call("aten::requires_grad_", "", {weight, true});
        }
        return weight;
    }

    std::deque<Entry> weights_;
};

} // namespace probe

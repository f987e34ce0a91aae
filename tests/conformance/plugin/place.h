// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <soma/sdk.h>
#include <sys/types.h>
#include <unistd.h>

/// Nodes that tell what they were told, and where things claim to be.
namespace probe {

using namespace soma::sdk;

/// The thread's number, as the system counts threads.
inline std::int64_t thread() { return static_cast<std::int64_t>(::gettid()); }

/// A place by name; "nowhere" is no place.
inline soma_place place_of(std::string_view text) {
    if (text == "cpu") return {SOMA_DEVICE_CPU, 0};
    if (text == "meta") return {SOMA_DEVICE_META, 0};
    if (text == "nowhere") return {SOMA_DEVICE_NONE, 0};
    if (text.substr(0, 5) == "cuda:") return {SOMA_DEVICE_CUDA, std::stoi(std::string{text.substr(5)})};
    throw Error{Code::invalid_argument, "no place is called `" + std::string{text} + "`"};
}

/// Everything the context says, and the input under "input", so that a chain of these is a diary.
class Where : public Node {
public:
    static NodeType describe() { return NodeType{"probe.where"}.doc("Reports its context.").reentrant(); }
    using Node::Node;
    Value forward(const Ctx& ctx, const Value& input) {
        return Dict{{"node", ctx.node_id()},
                    {"device", Value{ctx.device()}},
                    {"kind", ctx.place().kind},
                    {"index", ctx.place().index},
                    {"text", ctx.str()},
                    {"thread", thread()},
                    {"run", static_cast<std::int64_t>(ctx.run_id())},
                    {"seed", static_cast<std::int64_t>(ctx.seed() >> 1U)},
                    {"training", ctx.training()},
                    {"grad", ctx.grad_mode()},
                    {"stream", static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(ctx.stream()))},
                    {"input", input}};
    }
};

/// What `create` was told, and every later word of `moved`.
class Told : public Node {
public:
    static NodeType describe() { return NodeType{"probe.told"}.doc("Reports where it was told to be, in order."); }
    explicit Told(const Create& create) : Node{create} { remember(create.device()); }
    void moved(std::optional<std::string_view> device) { remember(device); }
    Value forward(const Ctx& ctx, const Value&) {
        return Dict{{"told", Value{told_}}, {"device", Value{ctx.device()}}};
    }

private:
    void remember(std::optional<std::string_view> device) { told_.emplace_back(device.value_or("none")); }
    std::vector<std::string> told_;
};

/// Something that has a place and nothing else.
struct Claim {
    static constexpr const char* type_id = "probe.claim/1";
    explicit Claim(std::string_view where) : text{where} {}
    std::string text;
    soma_place place() const {
        if (text == "lost") throw Error{Code::internal, "it does not know where it is"};
        return place_of(text);
    }
};

/// Something that cannot say where it is.
struct Mute {
    static constexpr const char* type_id = "probe.mute/1";
};

/// An opaque value that says it is where the node was told to run, or where `at` says.
class Claims : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.claim"}.doc("Claims to be somewhere.").config(String("at").defaults("")).reentrant();
    }
    explicit Claims(const Create& create) : Node{create}, at_{create.config().get_string("at")} {}
    Value forward(const Ctx& ctx, const Value&) {
        if (at_ == "mute") return Opaque<Mute>::make();
        return Opaque<Claim>::make(at_.empty() ? ctx.device().value_or("nowhere") : std::string_view{at_});
    }

private:
    std::string at_;
};

/// Claims in lists and dicts; all obey but one, at `[1].mask`, which is where `at` says.
class Nested : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.nested"}.doc("Claims within lists and dicts.").config(String("at").required());
    }
    explicit Nested(const Create& create) : Node{create}, at_{create.config().get_string("at")} {}
    Value forward(const Ctx& ctx, const Value&) {
        const std::string here{ctx.device().value_or("nowhere")};
        const Value good = Opaque<Claim>::make(here);
        return List{Value{List{good, "text", 7, Value{}}},
                    Value{Dict{{"ids", good}, {"mask", Opaque<Claim>::make(at_)}, {"more", Value{List{}}}}}, good};
    }

private:
    std::string at_;
};

/// Its configuration's `value`.
class Constant : public Node {
public:
    static NodeType describe() {
        return NodeType{"probe.constant"}.doc("Gives a value.").config(Any("value").required()).reentrant();
    }
    explicit Constant(const Create& create) : Node{create}, value_{create.config().get("value")} {}
    Value forward(const Ctx&, const Value&) { return value_; }

private:
    Value value_;
};

/// Its input, untouched.
class Pass : public Node {
public:
    static NodeType describe() { return NodeType{"probe.pass"}.doc("Gives its input.").reentrant().differentiable(); }
    using Node::Node;
    Value forward(const Ctx&, Value input) { return input; }
};

/// The sum of two numbers given as a list, or one more than the number given.
class Add : public Node {
public:
    static NodeType describe() { return NodeType{"probe.add"}.doc("Adds whole numbers.").reentrant(); }
    using Node::Node;
    Value forward(const Ctx&, const Value& input) {
        if (!input.is(Kind::list)) return input.as_int() + 1;
        std::int64_t sum = 0;
        for (const Value& item : Items{input}) sum += item.as_int();
        return sum;
    }
};

} // namespace probe

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file adapter.h
/// Turns a node class into the C functions of a node type. Authors need nothing from here.

#include <soma/sdk/node.h>

namespace soma::sdk::detail {

template <class N, class = void>
struct HasBackward : std::false_type {};
template <class N>
struct HasBackward<N, std::void_t<decltype(N::backward(std::declval<const Value&>(), std::declval<const Value&>()))>>
    : std::true_type {};

/// Whether `forward` takes an `Input`: a Value is whatever comes, a Tensor nothing else.
template <class N, class Input, class = void>
struct Takes : std::false_type {};
template <class N, class Input>
struct Takes<
    N, Input,
    std::void_t<decltype(std::declval<N&>().forward(std::declval<const Ctx&>(), std::declval<const Input&>()))>>
    : std::true_type {};

/// Somebody else's handle, read: no reference is counted, and none is given up.
template <class Read>
union Lent {
    template <class... Known>
    explicit Lent(soma_value* handle, Known... known) noexcept : value{Value::adopt(handle), known...} {}
    ~Lent() {} // not the value's
    const Read value;
};

template <class N, class = void>
struct HasExtension : std::false_type {};
template <class N>
struct HasExtension<N, std::void_t<decltype(N::get_extension(std::declval<std::string_view>()))>> : std::true_type {};

template <class N>
class Adapter {
public:
    /// The type's description, made at the first call. Lives as long as the plugin.
    static const soma_node_type* type() {
        static soma_node_type described = [] {
            soma_node_type c{};
            description().describe(c);
            c.create = &create;
            c.destroy = &destroy;
            c.forward = &forward;
            c.state_count = &state_count;
            c.state_at = &state_at;
            c.state_set = &state_set;
            c.moved = &moved;
            if constexpr (HasBackward<N>::value) c.backward = &backward;
            if constexpr (HasExtension<N>::value) c.get_extension = &get_extension;
            return c;
        }();
        return &described;
    }

private:
    static NodeType& description() {
        static NodeType description = N::describe();
        return description;
    }

    /// A fault of the host, named, so that nobody looks for it in the plugin.
    static void expect_from_host(bool holds, const char* what) {
        if (!holds) blame_host(what);
    }
    [[noreturn]] static void blame_host(const char* what) {
        throw Error{Code::internal, "the host called `" + description().name() + "` " + what};
    }

    static soma_status* SOMA_CALL create(soma_host*, const soma_create_info* info, void** self) noexcept {
        return guarded([&] {
            expect_from_host(self != nullptr, "to create a node without a place to put it");
            expect_from_host(info != nullptr && SOMA_HAS(info, soma_create_info, config) && info->config != nullptr,
                             "to create a node without a configuration");
            *self = std::make_unique<N>(Create{info}).release();
        });
    }

    static void SOMA_CALL destroy(void* self) noexcept { delete static_cast<N*>(self); }

    static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input,
                                          soma_outcome* outcome) noexcept {
        return guarded([&] {
            expect_from_host(self != nullptr && ctx != nullptr, "without a node or a context");
            expect_from_host(outcome != nullptr && SOMA_HAS(outcome, soma_outcome, value),
                             "without a place for the result");
            Done done = run(*static_cast<N*>(self), Ctx{ctx}, input);
            soma_value* result = done.value.release();
            outcome->kind = SOMA_OUTCOME_DONE;
            outcome->value = result;
            if (!done.saved.is_none() && SOMA_HAS(outcome, soma_outcome, saved)) outcome->saved = done.saved.release();
        });
    }

    static Done run(N& node, const Ctx& ctx, soma_value* input) {
        static_assert(Takes<N, Value>::value || Takes<N, Tensor>::value,
                      "a node's forward takes (const Ctx&, const Value&) or (const Ctx&, const Tensor&)");
        const Lent<Value> lent{input};
        if constexpr (Takes<N, Value>::value) {
            return Done{node.forward(ctx, lent.value)};
        } else {
            lent.value.expect(Kind::tensor, "the input");
            const Lent<Tensor> tensor{input, Checked{}};
            return Done{node.forward(ctx, tensor.value)};
        }
    }

    static std::uint32_t SOMA_CALL state_count(void* self) noexcept {
        return static_cast<std::uint32_t>(static_cast<N*>(self)->entries().size());
    }

    static soma_status* SOMA_CALL state_at(void* self, std::uint32_t index, soma_state* out) noexcept {
        return guarded([&] {
            expect_from_host(out != nullptr && SOMA_HAS(out, soma_state, value), "for a state without a place for it");
            const auto& entries = static_cast<N*>(self)->entries();
            expect_from_host(index < entries.size(), "for a state beyond the last");
            const Module::Entry& entry = entries[index];
            out->role = entry.role;
            out->persistent = entry.persistent ? 1 : 0;
            out->name = c_string(entry.name);
            out->value = entry.tensor.get();
        });
    }

    static soma_status* SOMA_CALL state_set(void* self, soma_string state, soma_value* value) noexcept {
        return guarded([&] { static_cast<N*>(self)->set(view(state), Value::retain(value)); });
    }

    static soma_status* SOMA_CALL moved(void* self, const char* device) noexcept {
        return guarded([&] {
            static_cast<N*>(self)->moved(device == nullptr ? std::nullopt : std::optional<std::string_view>{device});
        });
    }

    static soma_status* SOMA_CALL backward(soma_host*, soma_value* saved, soma_value* grads,
                                           soma_value** out) noexcept {
        return guarded([&] {
            expect_from_host(out != nullptr, "for gradients without a place for them");
            if constexpr (HasBackward<N>::value) {
                *out = Value{N::backward(Value::retain(saved), Value::retain(grads))}.release();
            }
            static_cast<void>(saved);
            static_cast<void>(grads);
        });
    }

    static const void* SOMA_CALL get_extension(const char* id) noexcept {
        if constexpr (HasExtension<N>::value) {
            if (id != nullptr) return N::get_extension(id);
        }
        static_cast<void>(id);
        return nullptr;
    }
};

} // namespace soma::sdk::detail

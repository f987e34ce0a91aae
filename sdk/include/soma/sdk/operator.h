// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file operator.h
/// An operator of the host's tensor library, resolved once and then called without a look-up.

#include <soma/sdk/argument.h>

#include <array>
#include <atomic>
#include <initializer_list>

namespace soma::sdk {

/// An argument given by name, e.g. `{"dtype", "int64"}`.
struct Named {
    std::string_view name; ///< as in the operator's schema
    Value value;           ///< its value
};

/// One operator, e.g. `static const Operator op{"aten::sum", "dim_IntList"};`. Make it static: the first call resolves it
/// and later ones read a pointer. [any thread] An unknown name throws at the first call and offers the nearest.
class Operator {
public:
    /// By name and overload; both must be string literals.
    constexpr explicit Operator(const char* name, const char* overload = "") noexcept
        : name_{name}, overload_{overload} {}
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    /// Calls it: positional arguments in order, then named ones. What is left out takes the schema's default. The
    /// operator must give exactly one result. Autograd records it.
    Value operator()(std::initializer_list<Argument> args, std::initializer_list<Named> named = {}) const {
        soma_value* result = nullptr;
        if (run(args.begin(), args.size(), named.begin(), named.size(), &result, 1) == 0) return {};
        return Value::adopt(result);
    }

    /// The same for an operator with several results, at most 8.
    std::vector<Value> all(std::initializer_list<Argument> args, std::initializer_list<Named> named = {}) const {
        std::array<soma_value*, 8> results{};
        const std::uint32_t count = run(args.begin(), args.size(), named.begin(), named.size(), results.data(), 8);
        std::vector<Value> values;
        for (std::uint32_t i = 0; i < count; ++i) values.push_back(Value::adopt(results[i]));
        return values;
    }

    /// Resolves it now, so that a name this host lacks is noticed when the node is made and not when it runs.
    const soma_operator* resolve() const {
        const soma_operator* found = found_.load(std::memory_order_acquire);
        if (found == nullptr) {
            check(api().op_find(host(), detail::c_string(name_), detail::c_string(overload_), &found));
            found_.store(found, std::memory_order_release);
        }
        return found;
    }

private:
    static constexpr std::size_t capacity = 16;

    std::uint32_t run(const Argument* args, std::size_t arg_count, const Named* named, std::size_t named_count,
                      soma_value** results, std::uint32_t room) const {
        if (arg_count > capacity || named_count > capacity) {
            throw Error{Code::invalid_argument, std::string{name_} + " was given more than 16 arguments"};
        }
        std::array<soma_value*, capacity> values;
        std::array<soma_value*, capacity> named_values;
        std::array<soma_string, capacity> names;
        Value none;
        const auto handle = [&none](const auto& argument) {
            if (argument.get() != nullptr) return argument.get();
            if (none.get() == nullptr) none = Value::adopt(Value{}.release());
            return none.get();
        };
        for (std::size_t i = 0; i < arg_count; ++i) values[i] = handle(args[i]);
        for (std::size_t i = 0; i < named_count; ++i) {
            names[i] = detail::c_string(named[i].name);
            named_values[i] = handle(named[i].value);
        }
        soma_call call{};
        call.struct_size = sizeof call;
        call.arg_count = static_cast<std::uint32_t>(arg_count);
        call.args = values.data();
        call.named_count = static_cast<std::uint32_t>(named_count);
        call.names = names.data();
        call.named = named_values.data();
        call.results = results;
        call.result_capacity = room;
        check(api().op_call(host(), resolve(), &call));
        return call.result_count;
    }

    const char* name_;
    const char* overload_;
    mutable std::atomic<const soma_operator*> found_{nullptr};
};

} // namespace soma::sdk

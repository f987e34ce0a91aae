// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file argument.h
/// What an operator is given: values lent for the call.

#include <soma/sdk/value.h>

#include <type_traits>
#include <utility>

namespace soma::sdk {

/// One argument of an operator, written where it is passed: a value, which is lent and not copied, or anything that a
/// value can be made of (a number, a bool, a text, a vector, an optional of these). It is for the length of one call: do
/// not keep one.
class Argument {
public:
    /// None.
    Argument() noexcept = default;
    /// Lends the value, which must outlive the call.
    Argument(const Value& value) noexcept : handle_{value.get()} {}
    /// Makes a value for the call.
    template <class T,
              std::enable_if_t<!std::is_base_of_v<Value, std::decay_t<T>> &&
                                   !std::is_same_v<Argument, std::decay_t<T>> && std::is_constructible_v<Value, T>,
                               int> = 0>
    Argument(T&& content) : made_{std::forward<T>(content)}, handle_{made_.get()} {}
    Argument(const Argument&) = delete;
    Argument& operator=(const Argument&) = delete;

    /// The handle, borrowed; null for none.
    soma_value* get() const noexcept { return handle_; }

private:
    Value made_;
    soma_value* handle_ = nullptr;
};

} // namespace soma::sdk

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace soma::detail {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// A letter or `_`, then letters, digits and `_`: what a binding or an argument is called.
bool is_identifier(std::string_view text) noexcept;

/// Throws `GraphError` unless `id` may name a node.
void check_id(std::string_view id);
/// Throws `GraphError` unless `type` may name a type.
void check_type(std::string_view type);

/// The id a node of the type gets by default: the last part of its name.
std::string_view default_id(std::string_view type) noexcept;
/// "bag_2"; for 1 the id itself.
std::string numbered_id(std::string_view id, std::uint32_t number);

} // namespace soma::detail

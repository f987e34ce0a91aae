// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace soma::detail {

/// Where the first byte lies that is not part of well-formed UTF-8 (overlong forms, surrogates and numbers past U+10FFFF
/// are not); `npos` when all of it is.
std::size_t utf8_error(std::string_view text) noexcept;

inline bool is_utf8(std::string_view text) noexcept { return utf8_error(text) == std::string_view::npos; }

/// "not UTF-8: byte 0xff at offset 3"; for a text that is not.
std::string describe_utf8_error(std::string_view text);

} // namespace soma::detail

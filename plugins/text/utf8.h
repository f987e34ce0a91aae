// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace text {

/// One code point of a text and how many bytes it took.
struct CodePoint {
    char32_t value;
    std::size_t size; ///< at least 1
    bool valid;       ///< false: the bytes are not UTF-8, `size` of them are one maximal wrong part
};

/// Decodes the code point at the start of a text that is not empty.
CodePoint decode(std::string_view text);

/// Appends a code point as UTF-8.
void encode(char32_t value, std::string& out);

/// The text with each maximal part that is not UTF-8 replaced by U+FFFD.
std::string repaired(std::string text);

} // namespace text

// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

#include <algorithm>
#include <utility>

namespace text {

CodePoint decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1, true};

    // The second byte's range is what rules out overlong forms, surrogates and values beyond U+10FFFF.
    std::size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    char32_t value = 0;
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
        value = first & 0x1fU;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        value = first & 0x0fU;
        if (first == 0xe0) low = 0xa0;
        if (first == 0xed) high = 0x9f;
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        value = first & 0x07U;
        if (first == 0xf0) low = 0x90;
        if (first == 0xf4) high = 0x8f;
    } else {
        return {0xfffd, 1, false};
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (i >= text.size() || byte(i) < low || byte(i) > high) return {0xfffd, i, false};
        value = (value << 6U) | (byte(i) & 0x3fU);
        low = 0x80;
        high = 0xbf;
    }
    return {value, length, true};
}

void encode(char32_t value, std::string& out) {
    const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((value >> shift) & 0x3fU)); };
    if (value < 0x80) {
        out += static_cast<char>(value);
    } else if (value < 0x800) {
        out += static_cast<char>(0xc0U | (value >> 6U));
        tail(0);
    } else if (value < 0x10000) {
        out += static_cast<char>(0xe0U | (value >> 12U));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xf0U | (value >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
}

std::string repaired(std::string text) {
    std::string out;
    std::size_t copied = 0;
    bool changed = false;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint point = decode(std::string_view{text}.substr(at));
        if (!point.valid) {
            changed = true;
            out.append(text, copied, at - copied);
            encode(0xfffd, out);
            copied = at + point.size;
        }
        at += point.size;
    }
    if (!changed) return text;
    out.append(text, copied, std::string::npos);
    return out;
}

} // namespace text

// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.h"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace soma::detail {

namespace {

// Length of the well-formed sequence at the start of `text`, which begins with a byte past ASCII; 0 when there is none.
std::size_t sequence_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0u) == 0x80u; };
    const unsigned lead = byte(0);
    if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        if (!continues(1) || !continues(2)) return 0;
        if (lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
        if (lead == 0xed && byte(1) >= 0xa0) return 0; // surrogate
        return 3;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        if (!continues(1) || !continues(2) || !continues(3)) return 0;
        if (lead == 0xf0 && byte(1) < 0x90) return 0;  // overlong
        if (lead == 0xf4 && byte(1) >= 0x90) return 0; // past U+10FFFF
        return 4;
    }
    return 0;
}

} // namespace

std::size_t utf8_error(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        if (text.size() - at >= 8) {
            std::uint64_t word;
            std::memcpy(&word, text.data() + at, sizeof word);
            if ((word & 0x8080808080808080u) == 0) {
                at += 8;
                continue;
            }
        }
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        const std::size_t length = sequence_length(text.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

std::string describe_utf8_error(std::string_view text) {
    const std::size_t at = utf8_error(text);
    if (at == std::string_view::npos) return {};
    return fmt::format("not UTF-8: byte 0x{:02x} at offset {}", static_cast<unsigned char>(text[at]), at);
}

} // namespace soma::detail

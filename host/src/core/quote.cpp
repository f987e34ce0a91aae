// SPDX-License-Identifier: Apache-2.0
#include "core/quote.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/utf8.h"

namespace soma::detail {

std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 80;
    std::string out = "`";
    std::size_t at = 0;
    while (at < text.size() && at < longest) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        const std::string_view point = text.substr(at, length);
        if (byte < 0x20 || byte == 0x7f || !is_utf8(point)) {
            out += fmt::format("\\x{:02x}", byte);
            ++at;
        } else {
            out += point;
            at += point.size();
        }
    }
    if (at < text.size()) out += "…";
    out += '`';
    return out;
}

} // namespace soma::detail

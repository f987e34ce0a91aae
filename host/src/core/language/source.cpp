// SPDX-License-Identifier: Apache-2.0
#include "core/language/source.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/utf8.h"
#include "soma/error.h"

namespace soma::language {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// The characters of a line, fit to be printed: what is not UTF-8, or would move the caret, as a replacement.
std::vector<std::string_view> characters(std::string_view line) {
    std::vector<std::string_view> out;
    while (!line.empty()) {
        const auto lead = static_cast<unsigned char>(line.front());
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        const std::string_view one = line.substr(0, length);
        const bool good = detail::is_utf8(one) && (lead >= 0x20 || lead == '\t') && lead != 0x7f;
        out.push_back(good ? one : std::string_view("\xef\xbf\xbd"));
        line.remove_prefix(good ? one.size() : 1);
    }
    return out;
}

} // namespace

std::size_t Source::line(std::size_t offset) const {
    return 1 + static_cast<std::size_t>(
                   std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

SyntaxError Source::error(std::size_t offset, std::string_view message) const {
    offset = std::min(offset, text_.size());
    std::size_t begin = offset == 0 ? 0 : text_.rfind('\n', offset - 1) + 1; // npos + 1 is 0
    if (begin == 0 && text_.starts_with(byte_order_mark) && offset >= byte_order_mark.size()) {
        begin = byte_order_mark.size();
    }
    std::size_t end = std::min(text_.find('\n', offset), text_.size());
    if (end > begin && text_[end - 1] == '\r') --end;

    const auto before = characters(text_.substr(begin, offset - begin));
    const auto after = characters(text_.substr(offset, end > offset ? end - offset : 0));
    constexpr std::size_t room = 60; // on either side of the place
    const std::size_t first = before.size() > room ? before.size() - room : 0;
    const std::size_t last = std::min(after.size(), room);
    std::string shown = first > 0 ? "…" : "";
    std::string caret = first > 0 ? " " : "";
    for (std::size_t i = first; i < before.size(); ++i) {
        shown += before[i];
        caret += before[i] == "\t" ? '\t' : ' ';
    }
    for (std::size_t i = 0; i < last; ++i) shown += after[i];
    if (last < after.size()) shown += "…";

    const std::size_t row = line(begin);
    const std::size_t column = before.size() + 1;
    return {fmt::format("{}{}{}:{}: {}\n{}\n{}^", name_, name_.empty() ? "" : ":", row, column, message, shown, caret),
            row, column};
}

void Source::fail(std::size_t offset, std::string_view message) const { throw error(offset, message); }

void Source::check_bytes() const {
    const std::size_t bad = detail::utf8_error(text_);
    const std::size_t nul = text_.find('\0');
    if (bad < nul) {
        fail(bad, fmt::format("the text is not UTF-8: byte 0x{:02x}", static_cast<unsigned char>(text_[bad])));
    }
    if (nul != std::string_view::npos) fail(nul, "the text has a NUL byte in it; is this a text file?");
}

} // namespace soma::language

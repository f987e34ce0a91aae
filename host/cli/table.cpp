// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace soma::cli {

namespace {

struct Range {
    char32_t first;
    char32_t last;
};

// The blocks that matter in names and texts; not every character of Unicode.
constexpr std::array zero_width{Range{0x300, 0x36f}, Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff},
                                Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}};
constexpr std::array double_width{Range{0x1100, 0x115f},   Range{0x2e80, 0x303e},  Range{0x3041, 0xa4cf},
                                  Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},  Range{0xfe30, 0xfe6f},
                                  Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},  Range{0x1f300, 0x1f64f},
                                  Range{0x1f900, 0x1f9ff}, Range{0x20000, 0x3fffd}};

template <std::size_t N>
bool among(const std::array<Range, N>& ranges, char32_t c) noexcept {
    return std::any_of(ranges.begin(), ranges.end(), [c](Range range) { return range.first <= c && c <= range.last; });
}

bool continues(unsigned char byte) noexcept { return (byte & 0xc0U) == 0x80U; }

} // namespace

std::size_t display_width(std::string_view text) noexcept {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i++]);
        char32_t c = lead;
        if (lead >= 0xc0U) {
            c = lead >= 0xf0U ? lead & 0x07U : lead >= 0xe0U ? lead & 0x0fU : lead & 0x1fU;
            while (i < text.size() && continues(static_cast<unsigned char>(text[i]))) {
                c = (c << 6U) | (static_cast<unsigned char>(text[i++]) & 0x3fU);
            }
        }
        if (!among(zero_width, c)) width += among(double_width, c) ? 2 : 1;
    }
    return width;
}

namespace {

std::string escaped(std::string_view text, bool breaks_and_tabs) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n' || byte == '\t') {
            out += !breaks_and_tabs ? std::string(1, text[i]) : byte == '\n' ? "\\n" : "\\t";
        } else if (byte < 0x20U || byte == 0x7fU) {
            out += fmt::format("\\x{:02x}", byte);
        } else if (byte == 0xc2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0U) {
            // U+0080 to U+009F are control characters as well.
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
        } else {
            out += text[i];
        }
    }
    return out;
}

} // namespace

std::string one_line(std::string_view text) { return escaped(text, true); }

std::string printable(std::string_view text) { return escaped(text, false); }

std::string indented(std::string_view json) {
    std::string out;
    out.reserve(2 * json.size());
    std::size_t depth = 0;
    bool text = false;
    const auto new_line = [&] {
        out += '\n';
        out.append(2 * depth, ' ');
    };
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (text || c == '"') {
            out += c;
            if (c == '\\') {
                out += json[++i];
            } else if (c == '"') {
                text = !text;
            }
        } else if (c == '{' || c == '[') {
            out += c;
            const std::size_t next = json.find_first_not_of(" \n", i + 1);
            if (json[next] == '}' || json[next] == ']') {
                out += json[next];
                i = next;
                continue;
            }
            ++depth;
            new_line();
        } else if (c == '}' || c == ']') {
            --depth;
            new_line();
            out += c;
        } else if (c == ',') {
            out += c;
            new_line();
        } else if (c == ':') {
            out += ": ";
        } else if (c != ' ' && c != '\n') {
            out += c;
        }
    }
    return out;
}

Table::Table(std::vector<std::string> header) { row(std::move(header)); }

void Table::align(std::size_t column, Align align) {
    if (alignment_.size() <= column) alignment_.resize(column + 1, Align::left);
    alignment_[column] = align;
}

void Table::row(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = one_line(cell);
    rows_.push_back(std::move(cells));
}

std::string Table::str(std::string_view indent) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        if (widths.size() < row.size()) widths.resize(row.size(), 0);
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string out;
    for (const auto& row : rows_) {
        std::string line(indent);
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - display_width(row[i]), ' ');
            const bool right = i < alignment_.size() && alignment_[i] == Align::right;
            line += right ? padding + row[i] : row[i] + padding;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

} // namespace soma::cli

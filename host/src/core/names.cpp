// SPDX-License-Identifier: Apache-2.0
#include "core/names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/quote.h"
#include "soma/error.h"

namespace soma::detail {

bool is_identifier(std::string_view text) noexcept {
    return !text.empty() && !is_digit(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

void check_id(std::string_view id) {
    if (id.empty()) throw GraphError("a node's id is empty; leave it out to have the node named after its type");
    const auto belongs = [](char c) { return is_word(c) || c == '-' || c == '.'; };
    if (!is_letter(id.front()) && id.front() != '_') {
        throw GraphError(fmt::format("{} cannot be a node's id: ids begin with a letter or `_`", quoted(id)));
    }
    if (!std::all_of(id.begin(), id.end(), belongs)) {
        throw GraphError(
            fmt::format("{} cannot be a node's id: ids consist of letters, digits, `_`, `-` and `.`", quoted(id)));
    }
}

void check_type(std::string_view type) {
    bool start = true; // of a part
    bool good = !type.empty();
    for (const char c : type) {
        good = good && (c == '.' ? !start : is_word(c));
        start = c == '.';
    }
    if (!good || start || is_digit(type.front())) {
        throw GraphError(
            fmt::format("{} cannot be a node type: types are written `family.name`, of letters, digits and "
                        "`_`, such as `nn.linear`",
                        type.empty() ? "the empty text" : quoted(type)));
    }
}

std::string_view default_id(std::string_view type) noexcept {
    const std::string_view last = type.substr(type.rfind('.') + 1);
    return last.empty() || is_digit(last.front()) ? type : last;
}

std::string numbered_id(std::string_view id, std::uint32_t number) {
    std::string out(id);
    if (number == 1) return out;
    std::array<char, 12> digits;
    out += '_';
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    return out;
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "readable.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "soma/detail/engine.h"
#include "soma/detail/status.h"
#include "soma/detail/value_rep.h"
#include "soma/json.h"
#include "table.h"

namespace soma::cli {

namespace {

constexpr std::size_t line_width = 100;
/// Of a dimension, before and after the "…".
constexpr std::size_t shown_at_an_end = 3;
/// A tensor of more elements is not read for the few that would be shown.
constexpr std::uint64_t most_elements_read = 1U << 16U;

/// A NaN has no sign that means anything.
std::string number(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

bool is_number(Kind kind) { return kind == Kind::integer || kind == Kind::real; }
bool is_scalar(Kind kind) {
    return kind == Kind::none || kind == Kind::boolean || is_number(kind) || kind == Kind::string;
}

/// A list of dicts that have the same keys and only scalars.
bool is_table(const Value& value) {
    if (value.kind() != Kind::list || value.size() == 0) return false;
    const Value& first = value.at(0);
    for (std::size_t row = 0; row < value.size(); ++row) {
        const Value& dict = value.at(row);
        if (dict.kind() != Kind::dict || dict.size() == 0 || dict.size() != first.size()) return false;
        for (std::size_t i = 0; i < dict.size(); ++i) {
            if (dict.key(i) != first.key(i) || !is_scalar(dict.at(i).kind())) return false;
        }
    }
    return true;
}

/// One format for all floats of a column, so that they can be compared at a glance.
bool fixed_point_fits(const Value& rows, std::size_t column) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const Value& cell = rows.at(row).at(column);
        if (cell.kind() != Kind::real || cell.as_float() == 0) continue;
        const double size = std::abs(cell.as_float());
        if (!(size >= 1e-3 && size < 1e7)) return false;
    }
    return true;
}

std::string as_table(const Value& rows) {
    const Value& first = rows.at(0);
    std::vector<std::string> header;
    for (std::size_t i = 0; i < first.size(); ++i) header.emplace_back(first.key(i));
    Table table(std::move(header));
    std::vector<bool> fixed(first.size());
    for (std::size_t column = 0; column < first.size(); ++column) {
        fixed[column] = fixed_point_fits(rows, column);
        bool numbers = true;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const Kind kind = rows.at(row).at(column).kind();
            numbers = numbers && (is_number(kind) || kind == Kind::none);
        }
        if (numbers) table.align(column, Table::Align::right);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::vector<std::string> cells;
        for (std::size_t column = 0; column < first.size(); ++column) {
            const Value& cell = rows.at(row).at(column);
            switch (cell.kind()) {
            case Kind::none: cells.emplace_back("-"); break;
            case Kind::string: cells.emplace_back(cell.as_string()); break;
            case Kind::real:
                cells.push_back(fixed[column] ? fmt::format("{:.4f}", cell.as_float()) : number(cell.as_float()));
                break;
            default: cells.push_back(to_json(cell));
            }
        }
        table.row(std::move(cells));
    }
    return table.str();
}

/// Elements of a tensor as nested lists, long dimensions cut.
std::string elements(const Value& nested) {
    if (nested.kind() == Kind::real) return number(nested.as_float());
    if (nested.kind() != Kind::list) return to_json(nested);
    std::string out = "[";
    const std::size_t size = nested.size();
    for (std::size_t i = 0; i < size; ++i) {
        if (i > 0) out += ", ";
        if (size > 2 * shown_at_an_end + 1 && i == shown_at_an_end) {
            out += "…";
            i = size - shown_at_an_end - 1;
        } else {
            out += elements(nested.at(i));
        }
    }
    return out + "]";
}

std::string as_text(const soma_string& text) { return {text.data, static_cast<std::size_t>(text.size)}; }

std::string tensor(const Value& value) {
    // There is an engine: it made the tensor.
    const detail::Engine* engine = detail::engine();
    void* payload = value.handle()->payload;
    soma_tensor_info info{};
    info.struct_size = sizeof info;
    if (soma_status* status = engine->info(payload, &info)) {
        detail::release_status(status);
        return to_json(Value(summary(value)));
    }
    std::string shape;
    for (std::uint32_t i = 0; i < info.ndim && info.sizes != nullptr; ++i) {
        shape += fmt::format("{}{}", i == 0 ? "" : ", ", info.sizes[i]);
    }
    std::string content = "…";
    soma_value* nested = nullptr;
    if (info.place.kind != SOMA_DEVICE_META && info.numel <= most_elements_read) {
        if (soma_status* status = engine->to_nested(payload, &nested)) {
            detail::release_status(status);
        } else {
            content = elements(Value::adopt(nested));
        }
    }
    return fmt::format(R"({{"tensor": {}, "dtype": "{}", "shape": [{}], "device": "{}"}})", content,
                       as_text(info.dtype), shape, as_text(info.device));
}

std::string as_json(const Value& value, std::size_t indent);

std::string items(const Value& value, std::size_t indent) {
    const bool dict = value.kind() == Kind::dict;
    const std::string_view brackets = dict ? "{}" : "[]";
    if (value.size() == 0) return std::string(brackets);
    std::vector<std::string> parts;
    std::size_t length = indent;
    bool one_line = true;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const Value& item = value.at(i);
        const bool nests = item.kind() == Kind::list || item.kind() == Kind::dict;
        one_line = one_line && (!nests || item.size() == 0);
        std::string part = dict ? to_json(Value(value.key(i))) + ": " : std::string();
        part += as_json(item, indent + 2);
        length += part.size() + 2;
        parts.push_back(std::move(part));
    }
    if (one_line && length <= line_width) {
        return fmt::format("{}{}{}", brackets[0], fmt::join(parts, ", "), brackets[1]);
    }
    const std::string blanks(indent + 2, ' ');
    return fmt::format("{}\n{}{}\n{}{}", brackets[0], blanks, fmt::join(parts, ",\n" + blanks),
                       std::string(indent, ' '), brackets[1]);
}

std::string as_json(const Value& value, std::size_t indent) {
    switch (value.kind()) {
    case Kind::list:
    case Kind::dict: return items(value, indent);
    case Kind::tensor: return tensor(value);
    default: return to_json(value);
    }
}

} // namespace

std::string readable(const Value& value) {
    if (value.kind() == Kind::string) {
        std::string text(value.as_string());
        if (text.empty() || text.back() != '\n') text += '\n';
        return text;
    }
    if (is_table(value)) return as_table(value);
    return as_json(value, 0) + "\n";
}

} // namespace soma::cli

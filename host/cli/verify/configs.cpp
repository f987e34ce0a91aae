// SPDX-License-Identifier: Apache-2.0
#include "verify/configs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "soma/json.h"

namespace soma::cli::verify {

namespace {

constexpr std::int64_t least_int = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest_int = std::numeric_limits<std::int64_t>::max();

Value with(const Value& base, std::string_view name, const Value& value) {
    std::vector<std::pair<std::string, Value>> entries;
    bool there = false;
    for (std::size_t i = 0; i < base.size(); ++i) {
        const bool same = base.key(i) == name;
        entries.emplace_back(base.key(i), same ? value : base.at(i));
        there = there || same;
    }
    if (!there) entries.emplace_back(name, value);
    return Value::dict(std::move(entries));
}

Value without(const Value& base, std::string_view name) {
    std::vector<std::pair<std::string, Value>> entries;
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (base.key(i) != name) entries.emplace_back(base.key(i), base.at(i));
    }
    return Value::dict(std::move(entries));
}

void add(std::vector<Variant>& out, const Value& base, const ConfigField& field, const Value& value, bool promised) {
    out.push_back({fmt::format("`{}` = {}", field.name, summary(value)), with(base, field.name, value), promised});
}

/// A bound as a value of the field's kind; nothing where no such number is within it.
std::optional<Value> bound(const ConfigField& field, double number, bool upper) {
    if (field.kind == Kind::real) return Value(number);
    const double whole = upper ? std::floor(number) : std::ceil(number);
    if (!(std::abs(whole) < 9.2e18)) return std::nullopt;
    return Value(static_cast<std::int64_t>(whole));
}

bool is_number(const ConfigField& field) { return field.kind == Kind::integer || field.kind == Kind::real; }

Value within(const ConfigField& field, double number) {
    if (field.minimum) number = std::max(number, *field.minimum);
    if (field.maximum) number = std::min(number, *field.maximum);
    if (field.kind == Kind::real) return number;
    return static_cast<std::int64_t>(std::llround(number));
}

/// A value for a required field: of a number, the `round`-th that suits.
Value some_value(const ConfigField& field, std::int64_t number) {
    if (!field.choices.empty()) {
        return field.choices[static_cast<std::size_t>(number) % field.choices.size()];
    }
    if (!field.kind) return number;
    switch (*field.kind) {
    case Kind::boolean: return true;
    case Kind::integer:
    case Kind::real: return within(field, static_cast<double>(number));
    case Kind::string: return "text";
    case Kind::list: return Value::list({});
    case Kind::dict: return Value::dict({});
    default: return number;
    }
}

Value of_another_kind(const ConfigField& field) {
    return field.kind == Kind::string ? Value(Value::list({1})) : Value("of another kind");
}

void add_odd_numbers(std::vector<Variant>& out, const Value& base, const ConfigField& field) {
    const auto add_if = [&](const Value& value, double number) {
        if (field.minimum && !(number >= *field.minimum)) return;
        if (field.maximum && !(number <= *field.maximum)) return;
        add(out, base, field, value, false);
    };
    if (field.kind == Kind::integer) {
        for (const std::int64_t number : {least_int, std::int64_t{-1}, std::int64_t{0}, greatest_int}) {
            add_if(number, static_cast<double>(number));
        }
        return;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const double number : {-infinity, -1e308, -1.0, 0.0, 1e-308, 1e308, infinity}) add_if(number, number);
    if (!field.minimum && !field.maximum) add(out, base, field, std::nan(""), false);
}

std::vector<Value> odd_values(const std::optional<Kind>& kind) {
    using namespace std::string_literals;
    const Value text = "\u00fcn\u00ef \u2603\n\t"s;
    switch (kind.value_or(Kind::none)) {
    case Kind::string: return {"", "a\0b"s, text, std::string(5000, 'x')};
    case Kind::list:
        return {Value::list({}), Value::list({Value()}), Value::list({"x", 1, Value::list({})}),
                Value::list({least_int, greatest_int})};
    case Kind::dict:
        return {Value::dict({}), Value::dict({{"", Value()}}), Value::dict({{"unexpected", Value::list({})}})};
    case Kind::none:
        return {true,
                -1,
                greatest_int,
                0.5,
                "",
                text,
                Value::list({}),
                Value::list({Value(), "x"}),
                Value::dict({{"unexpected", 1}})};
    default: return {};
    }
}

} // namespace

std::vector<Value> base_configs(const NodeType& type, std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> numbers(sizes.begin(), sizes.end());
    for (const std::int64_t number : {2, 1, 3, 4, 8, 16, 0}) numbers.push_back(number);
    std::vector<Value> out;
    for (const std::int64_t number : numbers) {
        std::vector<std::pair<std::string, Value>> entries;
        for (const ConfigField& field : type.config) {
            if (field.required) entries.emplace_back(field.name, some_value(field, number));
        }
        Value config = Value::dict(std::move(entries));
        if (std::find(out.begin(), out.end(), config) == out.end()) out.push_back(std::move(config));
    }
    return out;
}

std::vector<Variant> variants(const NodeType& type, const Value& base) {
    std::vector<Variant> out;
    for (const ConfigField& field : type.config) {
        for (const Value& choice : field.choices) add(out, base, field, choice, true);
        if (field.kind == Kind::boolean) {
            for (const bool value : {false, true}) add(out, base, field, value, true);
        }
        if (field.default_value) add(out, base, field, *field.default_value, true);
        if (!is_number(field) || !field.choices.empty()) continue;
        if (field.minimum) {
            if (const auto least = bound(field, *field.minimum, false)) add(out, base, field, *least, true);
        }
        if (field.maximum) {
            // May be more than this machine holds.
            if (const auto most = bound(field, *field.maximum, true)) add(out, base, field, *most, false);
        }
    }
    return out;
}

std::vector<Variant> refused_variants(const NodeType& type, const Value& base) {
    std::vector<Variant> out;
    out.push_back({"an unknown field", with(base, "no_such_field_", 1), false});
    for (const ConfigField& field : type.config) {
        if (field.required) out.push_back({fmt::format("`{}` missing", field.name), without(base, field.name), false});
        if (field.kind) add(out, base, field, of_another_kind(field), false);
        if (!field.choices.empty() && field.kind == Kind::string) add(out, base, field, "no such choice", false);
        if (!is_number(field)) continue;
        const double step = field.kind == Kind::real ? 0.5 : 1;
        if (field.minimum && std::abs(*field.minimum) < 1e15) {
            if (const auto less = bound(field, *field.minimum - step, true)) add(out, base, field, *less, false);
        }
        if (field.maximum && std::abs(*field.maximum) < 1e15) {
            if (const auto more = bound(field, *field.maximum + step, false)) add(out, base, field, *more, false);
        }
    }
    return out;
}

std::vector<Variant> odd_variants(const NodeType& type, const Value& base) {
    std::vector<Variant> out;
    for (const ConfigField& field : type.config) {
        if (!field.choices.empty()) continue;
        if (is_number(field)) {
            add_odd_numbers(out, base, field);
        } else {
            for (const Value& value : odd_values(field.kind)) add(out, base, field, value, false);
        }
    }
    return out;
}

} // namespace soma::cli::verify

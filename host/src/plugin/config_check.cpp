// SPDX-License-Identifier: Apache-2.0
#include "plugin/config_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "soma/error.h"
#include "soma/json.h"
#include "soma/suggest.h"

namespace soma {

namespace {

// "got int 3", "got string "abc"".
std::string got(const Value& value) {
    switch (value.kind()) {
    case Kind::none: return "got none";
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::string: return fmt::format("got {} {}", to_string(value.kind()), summary(value));
    case Kind::list:
    case Kind::dict: return fmt::format("got a {}", summary(value));
    default: return fmt::format("got {}", summary(value));
    }
}

std::string choice_list(const std::vector<Value>& choices) {
    constexpr std::size_t most = 12;
    std::string text;
    for (std::size_t i = 0; i < choices.size() && i < most; ++i) {
        text += (i == 0 ? "" : ", ") + summary(choices[i]);
    }
    if (choices.size() > most) text += ", …";
    return text;
}

std::string nearest_choice(const std::vector<Value>& choices, const Value& value) {
    if (value.kind() != Kind::string) return {};
    std::vector<std::string> texts;
    for (const Value& choice : choices) {
        if (choice.kind() == Kind::string) texts.emplace_back(choice.as_string());
    }
    return did_you_mean(value.as_string(), texts);
}

std::string bound(double number) {
    return summary(std::floor(number) == number && std::abs(number) < 1e15 ? Value(static_cast<std::int64_t>(number))
                                                                           : Value(number));
}

} // namespace

std::optional<Value> detail::fit(const ConfigField& field, const Value& value, std::string& why) {
    Value fitting = value;
    if (field.kind == Kind::real && value.kind() == Kind::integer) fitting = Value(value.as_float());
    if (field.kind && fitting.kind() != *field.kind) {
        why = fmt::format("expected {}, {}", to_string(*field.kind), got(value));
        return std::nullopt;
    }
    if (fitting.kind() == Kind::integer || fitting.kind() == Kind::real) {
        const double number = fitting.as_float();
        // Written so that a NaN is out of bounds.
        if (field.minimum && !(number >= *field.minimum)) {
            why = fmt::format("expected at least {}, {}", bound(*field.minimum), got(value));
            return std::nullopt;
        }
        if (field.maximum && !(number <= *field.maximum)) {
            why = fmt::format("expected at most {}, {}", bound(*field.maximum), got(value));
            return std::nullopt;
        }
    }
    if (!field.choices.empty() &&
        std::find(field.choices.begin(), field.choices.end(), fitting) == field.choices.end()) {
        why = fmt::format("expected one of {}, {}{}", choice_list(field.choices), got(value),
                          nearest_choice(field.choices, value));
        return std::nullopt;
    }
    return fitting;
}

Value NodeType::checked_config(const Value& given, std::string_view node) const {
    if (!given.is_none() && given.kind() != Kind::dict) {
        throw GraphError(fmt::format("node `{}`: the configuration of `{}` is a {}, expected a dict", node, name,
                                     to_string(given.kind())));
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string_view key = given.key(i);
        const auto named = [&](const ConfigField& field) { return field.name == key; };
        if (std::any_of(config.begin(), config.end(), named)) continue;
        std::vector<std::string> names;
        for (const ConfigField& field : config) names.push_back(field.name);
        if (names.empty()) {
            throw GraphError(
                fmt::format("node `{}`: `{}` takes no configuration, but `{}` was given", node, name, key));
        }
        throw GraphError(fmt::format("node `{}`: `{}` has no configuration field `{}`{}; it has `{}`", node, name, key,
                                     did_you_mean(key, names), fmt::join(names, "`, `")));
    }
    std::vector<std::pair<std::string, Value>> checked;
    checked.reserve(config.size());
    for (const ConfigField& field : config) {
        const Value* value = given.find(field.name);
        if (value == nullptr && field.required) {
            throw GraphError(fmt::format("node `{}`: `{}` needs `{}`, which was not given{}{}", node, name, field.name,
                                         field.doc.empty() ? "" : ": ", field.doc));
        }
        const bool left_out = value == nullptr || (value->is_none() && !field.required && !field.default_value);
        if (left_out) {
            checked.emplace_back(field.name, field.default_value.value_or(Value()));
            continue;
        }
        std::string why;
        std::optional<Value> fitting = detail::fit(field, *value, why);
        if (!fitting) throw GraphError(fmt::format("node `{}`: `{}` of `{}`: {}", node, field.name, name, why));
        checked.emplace_back(field.name, std::move(*fitting));
    }
    return Value::dict(std::move(checked));
}

} // namespace soma

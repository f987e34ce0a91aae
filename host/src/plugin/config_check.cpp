// SPDX-License-Identifier: Apache-2.0
#include "plugin/config_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/quote.h"
#include "soma/detail/node_faults.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/plugin.h"
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
    if (field.kind == Kind::integer && value.kind() == Kind::real && std::abs(value.as_float()) >= 0x1p63) {
        why = fmt::format("{} is too large: an int is at most {}", summary(value),
                          std::numeric_limits<std::int64_t>::max());
        if (value.as_float() < 0) {
            why = fmt::format("{} is too small: an int is at least {}", summary(value),
                              std::numeric_limits<std::int64_t>::min());
        }
        return std::nullopt;
    }
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

namespace {

// The configuration with what is missing filled in, and everything wrong with it.
struct Checked {
    std::vector<std::pair<std::string, Value>> config;
    std::vector<std::string> faults;
};

Checked check(const NodeType& type, const Value& given, std::string_view node) {
    Checked out;
    const auto wrong = [&](std::string why) { out.faults.push_back(fmt::format("node `{}`: {}", node, why)); };
    if (!given.is_none() && given.kind() != Kind::dict) {
        wrong(fmt::format("the configuration of `{}` is a {}, expected a dict", type.name, to_string(given.kind())));
        return out;
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string_view key = given.key(i);
        const auto is_it = [key](const ConfigField& field) { return field.name == key; };
        if (std::any_of(type.config.begin(), type.config.end(), is_it)) continue;
        std::vector<std::string> names;
        for (const ConfigField& field : type.config) names.push_back(field.name);
        wrong(names.empty()
                  ? fmt::format("`{}` takes no configuration, but {} was given", type.name, detail::quoted(key))
                  : fmt::format("`{}` has no configuration field {}{}; it has `{}`", type.name, detail::quoted(key),
                                did_you_mean(key, names), fmt::join(names, "`, `")));
    }
    out.config.reserve(type.config.size());
    for (const ConfigField& field : type.config) {
        const Value* value = given.find(field.name);
        if (value == nullptr && field.required) {
            wrong(fmt::format("`{}` needs `{}`, which was not given{}{}", type.name, field.name,
                              field.doc.empty() ? "" : ": ", field.doc));
            continue;
        }
        const bool left_out = value == nullptr || (value->is_none() && !field.required && !field.default_value);
        if (left_out) {
            out.config.emplace_back(field.name, field.default_value.value_or(Value()));
            continue;
        }
        std::string why;
        if (std::optional<Value> fitting = detail::fit(field, *value, why)) {
            out.config.emplace_back(field.name, std::move(*fitting));
        } else {
            wrong(fmt::format("`{}` of `{}`: {}", field.name, type.name, why));
        }
    }
    return out;
}

// Whether it is what `check` would make of it: a configuration that was checked before, say.
bool is_complete(const NodeType& type, const Value& given) {
    if (given.kind() != Kind::dict || given.size() != type.config.size()) return false;
    std::string why;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const ConfigField& field = type.config[i];
        if (given.key(i) != field.name) return false;
        const Value& value = given.at(i);
        if (value.is_none() && !field.required && !field.default_value) continue;
        const std::optional<Value> fitting = detail::fit(field, value, why);
        if (!fitting || fitting->handle() != value.handle()) return false;
    }
    return true;
}

// Never destroyed: values in static variables may hold it.
const Value& empty_dict() {
    static const Value& empty = *std::make_unique<Value>(Value::dict({})).release();
    return empty;
}

} // namespace

Value NodeType::checked_config(const Value& given, std::string_view node) const {
    if (is_complete(*this, given)) return given;
    if (config.empty() && given.is_none()) return empty_dict();
    Checked checked = check(*this, given, node);
    if (!checked.faults.empty()) throw GraphError(checked.faults.front());
    return Value::dict(std::move(checked.config));
}

std::optional<std::string> detail::too_old(const Node& node, const NodeType& type) {
    if (node.type_version <= type.version) return std::nullopt;
    return fmt::format("node `{}` wants version {} of `{}`, but plugin `{}` gives version {}: update the plugin",
                       node.id, node.type_version, node.type, type.plugin->name, type.version);
}

std::vector<std::string> detail::node_faults(const Node& node, const NodeType& type) {
    std::vector<std::string> faults = check(type, node.config, node.id).faults;
    if (auto old = too_old(node, type)) faults.insert(faults.begin(), std::move(*old));
    return faults;
}

} // namespace soma

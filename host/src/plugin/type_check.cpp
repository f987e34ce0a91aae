// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.h"
#include "core/quote.h"
#include "core/utf8.h"
#include "plugin/api_check.h"
#include "plugin/config_check.h"
#include "plugin/staging.h"
#include "plugin/structs.h"
#include "soma/error.h"
#include "soma/json.h"

namespace soma::detail {

namespace {

// What a fault is said to be in. Spelt out only where there is one: nearly every type is sound, and types are checked at
// every start.
struct Where {
    std::string_view type;
    std::string_view field = {};
    std::string_view port = {}; // its name; `ports` says which are meant
    std::string_view ports = {};

    [[nodiscard]] std::string str() const {
        if (!field.empty()) return fmt::format("node type `{}`, configuration field `{}`", type, field);
        if (!ports.empty()) return fmt::format("node type `{}`, `{}` of its {}", type, port, ports);
        return fmt::format("node type `{}`", type);
    }
};

[[noreturn]] void fail(const Where& where, std::string_view why) {
    throw PluginError(fmt::format("{}: {}", where.str(), why));
}

bool is_sound(soma_string text) noexcept { return api::is_readable(text) && is_utf8(api::view(text)); }

std::string text_in(const Where& where, soma_string text, std::string_view what) {
    if (is_sound(text)) return std::string(api::view(text));
    return checked_text(text, what, where.str()); // which throws
}

bool is_type_name(std::string_view name) noexcept {
    bool dotted = false;
    bool starts = true; // the next character is the first of a part
    for (const char c : name) {
        const bool lower = c >= 'a' && c <= 'z';
        if (c == '.') {
            if (starts) return false;
            dotted = starts = true;
        } else if (lower || (!starts && (is_digit(c) || c == '_'))) {
            starts = false;
        } else {
            return false;
        }
    }
    return dotted && !starts;
}

std::optional<Kind> kind_from(std::uint32_t kind, std::uint32_t first, std::uint32_t last, const Where& where) {
    if (kind == SOMA_KIND_ANY) return std::nullopt;
    if (kind < first || kind > last) {
        fail(where, fmt::format("its kind is {}, expected SOMA_KIND_ANY or a number from {} to {}", kind, first, last));
    }
    return static_cast<Kind>(kind);
}

Value parsed(const std::string& json, std::string_view what, const Where& where) {
    try {
        return parse_json(json);
    } catch (const ValueError& error) {
        fail(where, fmt::format("{} is {}: {}", what, quoted(json), error.what()));
    }
}

double number(const std::string& json, std::string_view what, const Where& where) {
    const Value value = parsed(json, what, where);
    if (value.kind() != Kind::integer && value.kind() != Kind::real) {
        fail(where, fmt::format("{} is {}, expected a number", what, quoted(json)));
    }
    return value.as_float();
}

// A value that the plugin itself gives for the field, in the field's kind.
Value own_value(const ConfigField& field, const Value& value, std::string_view what, const Where& where) {
    std::string why;
    if (std::optional<Value> fitting = fit(field, value, why)) return std::move(*fitting);
    fail(where, fmt::format("{}: {}", what, why));
}

ConfigField checked_field(const soma_config_field& raw, std::string_view type) {
    ConfigField field;
    field.name = text_in({type}, raw.name, "the name of a configuration field");
    if (!is_identifier(field.name)) {
        fail({type}, fmt::format("a configuration field is called {}; expected a letter or `_`, then letters, digits "
                                 "and `_`",
                                 quoted(field.name)));
    }
    const Where where{type, field.name};
    field.doc = text_in(where, raw.doc, "its doc");
    field.kind = kind_from(raw.kind, SOMA_KIND_BOOL, SOMA_KIND_DICT, where);
    field.required = (raw.flags & SOMA_CONFIG_REQUIRED) != 0;
    const std::string default_json = text_in(where, raw.default_json, "its default");
    const std::string choices_json = text_in(where, raw.choices_json, "its choices");
    const std::string minimum_json = text_in(where, raw.minimum_json, "its minimum");
    const std::string maximum_json = text_in(where, raw.maximum_json, "its maximum");

    if (!minimum_json.empty()) field.minimum = number(minimum_json, "its minimum", where);
    if (!maximum_json.empty()) field.maximum = number(maximum_json, "its maximum", where);
    if (field.minimum && field.maximum && *field.minimum > *field.maximum) {
        fail(where, fmt::format("its minimum {} is greater than its maximum {}", minimum_json, maximum_json));
    }
    if (!choices_json.empty()) {
        const Value choices = parsed(choices_json, "its choices", where);
        if (choices.kind() != Kind::list || choices.size() == 0) {
            fail(where,
                 fmt::format("its choices are {}, expected a JSON list that is not empty", quoted(choices_json)));
        }
        std::vector<Value> fitting;
        for (std::size_t i = 0; i < choices.size(); ++i) {
            fitting.push_back(own_value(field, choices.at(i), "among its choices", where));
        }
        field.choices = std::move(fitting);
    }
    if (!default_json.empty()) {
        if (field.required) {
            fail(where,
                 fmt::format("it is required and has the default {}; a required field has none", quoted(default_json)));
        }
        const Value value = parsed(default_json, "its default", where);
        // Given as null, it is a field that may be left out like one without a default.
        if (!value.is_none()) field.default_value = own_value(field, value, "its default", where);
    }
    return field;
}

template <class Item>
void check_twice(const std::vector<Item>& items, const Item& item, std::string_view what, std::string_view type) {
    const auto same = [&](const Item& other) { return other.name == item.name; };
    if (std::any_of(items.begin(), items.end(), same)) {
        fail({type}, fmt::format("two {} are called `{}`", what, item.name));
    }
}

std::vector<Port> checked_ports(const soma_port* ports, std::uint32_t count, std::uint32_t stride,
                                std::string_view what, const std::string& type, const std::string& where) {
    std::vector<Port> checked;
    for_each(ports, count, stride, least_port, "soma_port", where, [&](const soma_port& raw) {
        const auto text = [&](soma_string given, const auto& called) {
            if (is_sound(given)) return std::string(api::view(given));
            return checked_text(given, called(), where); // which throws
        };
        Port port;
        port.name = text(raw.name, [&] { return fmt::format("the name of one of its {}", what); });
        // The names of several are keys; that of a single one is only for people.
        if (count > 1 && port.name.empty()) {
            fail({type}, fmt::format("one of its {} has no name, and each of several needs one", what));
        }
        port.doc = text(raw.doc, [&] { return fmt::format("the doc of `{}`", port.name); });
        port.kind = kind_from(raw.kind, SOMA_KIND_NONE, SOMA_KIND_GENERATOR, {type, {}, port.name, what});
        check_twice(checked, port, what, type);
        checked.push_back(std::move(port));
    });
    return checked;
}

void check_functions(const soma_node_type& raw, const Where& where) {
    const auto mandatory = [&](bool there, std::string_view name) {
        if (!there) fail(where, fmt::format("it has no `{}`, which is mandatory", name));
    };
    mandatory(raw.create != nullptr, "create");
    mandatory(raw.destroy != nullptr, "destroy");
    mandatory(raw.forward != nullptr, "forward");
    if (raw.state_count != nullptr) mandatory(raw.state_at != nullptr, "state_at");
}

} // namespace

NodeType checked_type(const soma_node_type& given) {
    check_size(given.struct_size, least_node_type, "soma_node_type", "a node type");
    const soma_node_type raw = prefix_of(given);
    NodeType type;
    type.name = checked_text(raw.name, "its name", "a node type");
    if (!is_type_name(type.name)) {
        throw PluginError(
            fmt::format("a node type is called {}; expected `family.name`, each part a lower case letter, "
                        "then lower case letters, digits and `_`",
                        quoted(type.name)));
    }
    const Where where{type.name};
    const std::string spelt = where.str(); // once, for arrays
    if (raw.version == 0) fail(where, "its version is 0; versions count from 1");
    type.version = raw.version;
    type.doc = text_in(where, raw.doc, "its doc");
    for_each(raw.config, raw.config_count, raw.config_stride, least_config_field, "soma_config_field", spelt,
             [&](const soma_config_field& field) {
                 ConfigField checked = checked_field(field, type.name);
                 check_twice(type.config, checked, "configuration fields", type.name);
                 type.config.push_back(std::move(checked));
             });
    type.inputs = checked_ports(raw.inputs, raw.input_count, raw.input_stride, "inputs", type.name, spelt);
    type.outputs = checked_ports(raw.outputs, raw.output_count, raw.output_stride, "outputs", type.name, spelt);
    type.flags = raw.flags;
    type.example_json = text_in(where, raw.example_json, "its example");
    if (!type.example_json.empty()) static_cast<void>(parsed(type.example_json, "its example", where));
    check_functions(raw, where);
    type.functions = raw;
    type.functions.struct_size = static_cast<std::uint32_t>(std::min<std::size_t>(raw.struct_size, sizeof raw));
    return type;
}

} // namespace soma::detail

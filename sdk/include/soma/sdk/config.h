// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file config.h
/// A node's configuration, read by name.

#include <soma/sdk/value.h>

namespace soma::sdk {

/// The configuration of one instance: the host has checked it against the description and filled in the defaults. A name
/// that the description lacks, or another type than it says, throws Error with the field's name.
class Config {
public:
    /// From a dict; nothing is copied.
    explicit Config(Value dict) : dict_{std::move(dict)} {}

    /// Whether the field is there and not none.
    bool has(std::string_view name) const {
        const auto found = dict_.find(name);
        return found && !found->is_none();
    }
    /// A field of any kind.
    Value get(std::string_view name) const {
        if (auto found = dict_.find(name)) return std::move(*found);
        throw Error{Code::not_found, "there is no configuration `" + std::string{name} + "`"};
    }
    /// A field that is an int.
    std::int64_t get_int(std::string_view name) const { return checked(name, Kind::integer).as_int(); }
    /// A field that is a bool.
    bool get_bool(std::string_view name) const { return checked(name, Kind::boolean).as_bool(); }
    /// A field that is a float; an int converts.
    double get_float(std::string_view name) const {
        const Value value = get(name);
        return value.is(Kind::integer) ? value.as_float() : checked(name, Kind::floating).as_float();
    }
    /// A field that is a string.
    std::string get_string(std::string_view name) const { return std::string{checked(name, Kind::string).as_string()}; }
    /// A field that is a list.
    Value get_list(std::string_view name) const { return checked(name, Kind::list); }
    /// A field that is a dict.
    Value get_dict(std::string_view name) const { return checked(name, Kind::dict); }
    /// All of it.
    const Value& all() const noexcept { return dict_; }

private:
    Value checked(std::string_view name, Kind kind) const {
        Value value = get(name);
        value.expect(kind, "configuration `" + std::string{name} + "`");
        return value;
    }

    Value dict_;
};

} // namespace soma::sdk

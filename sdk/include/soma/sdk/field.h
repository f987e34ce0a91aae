// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file field.h
/// One field of a node's configuration, as the description tells it.

#include <soma/sdk/kind.h>

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace soma::sdk {

namespace detail {

inline std::string json(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "\"";
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            out += '\\';
            out += letter;
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4U];
            out += hex[byte & 15U];
        } else {
            out += letter;
        }
    }
    return out + '"';
}

inline std::string json(const char* text) { return json(std::string_view{text}); }

template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
std::string json(T value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else {
        if constexpr (std::is_floating_point_v<T>) {
            if (!std::isfinite(value)) throw std::invalid_argument{"a configuration field's number must be finite"};
        }
        char buffer[64];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
        return {buffer, end.ptr};
    }
}

} // namespace detail

/// A field: its kind and name, and what may be said of it. Usually made by Int, Float, Bool, String, … below.
class Field {
public:
    /// Of a kind, by the name a user writes.
    Field(Kind of_kind, std::string of_name) : kind{of_kind}, name{std::move(of_name)} {}

    /// It has no default and must be given.
    Field& required() {
        is_required = true;
        return *this;
    }
    /// The value when it is not given: a bool, number or string.
    template <class T>
    Field& defaults(const T& value) {
        default_json = detail::json(value);
        return *this;
    }
    /// The default as JSON text, e.g. "[1, 2]", for lists and dicts.
    Field& defaults_json(std::string text) {
        default_json = std::move(text);
        return *this;
    }
    /// The only values allowed.
    Field& choices(const std::vector<std::string>& allowed) {
        choices_json = "[";
        for (const std::string& choice : allowed) {
            choices_json += (choices_json.size() == 1 ? "" : ", ") + detail::json(std::string_view{choice});
        }
        choices_json += "]";
        return *this;
    }
    /// The smallest number allowed.
    template <class T>
    Field& min(T number) {
        minimum_json = detail::json(number);
        return *this;
    }
    /// The greatest number allowed.
    template <class T>
    Field& max(T number) {
        maximum_json = detail::json(number);
        return *this;
    }
    /// A sentence for the user.
    Field& doc(std::string text) {
        doc_text = std::move(text);
        return *this;
    }

    Kind kind;                ///< what it is
    std::string name;         ///< as a user writes it
    bool is_required = false; ///< whether it must be given
    std::string doc_text;     ///< a sentence
    std::string default_json; ///< empty: none
    std::string choices_json; ///< empty: any
    std::string minimum_json; ///< empty: unbounded
    std::string maximum_json; ///< empty: unbounded
};

/// A field that is an int.
inline Field Int(std::string name) { return {Kind::integer, std::move(name)}; }
/// A field that is a float; a user may write an int.
inline Field Float(std::string name) { return {Kind::floating, std::move(name)}; }
/// A field that is true or false.
inline Field Bool(std::string name) { return {Kind::boolean, std::move(name)}; }
/// A field that is a text.
inline Field String(std::string name) { return {Kind::string, std::move(name)}; }
/// A field of any kind.
inline Field Any(std::string name) { return {Kind::any, std::move(name)}; }

} // namespace soma::sdk

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file kind.h
/// The kinds of values and their names.

#include <soma/abi/value.h>

#include <cstdint>
#include <string_view>

namespace soma::sdk {

/// What a value is. `any` occurs only in descriptions.
enum class Kind : std::uint32_t {
    any = SOMA_KIND_ANY,
    none = SOMA_KIND_NONE,
    boolean = SOMA_KIND_BOOL,
    integer = SOMA_KIND_INT,
    floating = SOMA_KIND_FLOAT,
    string = SOMA_KIND_STRING,
    bytes = SOMA_KIND_BYTES,
    list = SOMA_KIND_LIST,
    dict = SOMA_KIND_DICT,
    tensor = SOMA_KIND_TENSOR,
    opaque = SOMA_KIND_OPAQUE,
    generator = SOMA_KIND_GENERATOR,
};

/// "a list", "an int", "none": for error messages.
constexpr std::string_view with_article(Kind kind) noexcept {
    switch (kind) {
    case Kind::any: return "any value";
    case Kind::none: return "none";
    case Kind::boolean: return "a bool";
    case Kind::integer: return "an int";
    case Kind::floating: return "a float";
    case Kind::string: return "a string";
    case Kind::bytes: return "bytes";
    case Kind::list: return "a list";
    case Kind::dict: return "a dict";
    case Kind::tensor: return "a tensor";
    case Kind::opaque: return "an opaque value";
    case Kind::generator: return "a generator";
    }
    return "a value of an unknown kind";
}

} // namespace soma::sdk

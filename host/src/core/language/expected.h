// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/language/source.h"

namespace soma::language {

/// What had to stand where something else does.
enum class Expected {
    nothing,        // never missing
    node,           // at the start of an operand
    end,            // of the statement, or an operator
    keyword,        // of the first argument
    next_keyword,   // after a comma
    equals,         // after a keyword
    argument_value, // after `=`
    arguments_close,
    number,      // something that begins like one
    escape_code, // after a backslash
    quote,       // at the end of a text
    item,        // of a list
    next_item,
    list_close,
    key, // of an object
    next_key,
    colon,
    entry_value,
    dict_close,
    method, // after a dot
    method_open,
    method_close,
    device, // in .on(
    id,     // in .named(
};

/// Where the parse stands, as far as errors speak of it.
struct Situation {
    std::size_t last_offset = 0;   ///< where the operator, parenthesis or `=` before an operand is
    std::string last_token;        ///< what it is; empty at the start of a statement
    std::vector<std::size_t> open; ///< where the parentheses are that are still open
    std::size_t arguments_of = 0;  ///< where the name of the node is whose arguments are read
    bool method_like = false;      ///< what stands before the last point of that name is a node, so the rest is no type
    std::string keyword;           ///< of the argument that is read
};

/// Throws the `SyntaxError` that says what stands at `offset` instead, and what was most likely meant.
[[noreturn]] void explain(const Source& source, Expected expected, std::size_t offset, const Situation& situation);

/// Throws one about a name such as `nn.bag.om` whose last part looks like a method, or must be meant as one because what
/// stands before it is a node (`of_node`); returns else.
void explain_method_in_name(const Source& source, std::size_t offset, std::size_t length, bool of_node);

} // namespace soma::language

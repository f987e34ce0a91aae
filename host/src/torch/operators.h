// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>

#include "direct.h"
#include "soma/abi.h"

namespace soma::detail {

/// What an argument of an operator wants, decided once when the operator is found.
enum class Want : std::uint8_t {
    tensor,
    scalar,
    integer,
    real,
    boolean,
    string,
    device,
    dtype,
    layout,
    memory_format,
    generator,
    list,
    nothing, ///< a type that no value can be
};

struct Parameter {
    Want want = Want::nothing;
    Want item = Want::nothing;  ///< of a list
    bool optional = false;      ///< none will do
    bool item_optional = false; ///< and in the list
    bool symbolic = false;      ///< implemented with ints that may be symbolic, an int or a list of them
    bool keyword_only = false;
    bool written = false;                  ///< the operator writes to it
    std::int32_t length = 0;               ///< of a list whose length is fixed, for which one item may stand; else 0
    std::string name;                      ///< as in the schema
    std::string type;                      ///< the same, for messages
    const c10::IValue* fallback = nullptr; ///< the schema's default; null when it must be given
};

/// Converts a value to what the parameter wants and pushes it. `position` counts from 1, for the message of `Failure`.
void push_argument(torch::jit::Stack& stack, const soma_operator& op, std::size_t index, soma_value* value);

/// What an operator gave, as a value with one reference.
soma_value* take_result(c10::IValue&& result, const soma_operator& op);

} // namespace soma::detail

/// A resolved operator; made once, where it stays, and never freed.
struct soma_operator {
    explicit soma_operator(c10::OperatorHandle found);
    soma_operator(const soma_operator&) = delete;
    soma_operator& operator=(const soma_operator&) = delete;

    c10::OperatorHandle handle;
    std::string name;     ///< "aten::add.Tensor"
    std::string function; ///< "aten::add"
    std::string writer;   ///< what a refused write is told to come from
    std::vector<soma::detail::Parameter> parameters;
    std::uint32_t positional = 0; ///< how many may be given by position
    std::uint32_t results = 0;
    bool writes = false;                                ///< some parameter is written to
    std::unique_ptr<const soma::detail::Direct> direct; ///< the short way; null when there is none
};

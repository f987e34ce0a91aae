// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "soma/node_type.h"
#include "soma/value.h"

namespace soma::cli::verify {

/// Something to run a node on.
class Input {
public:
    /// `data` as JSON has it: a tensor is {"tensor": …}.
    Input(Value data, bool declared) : data_(std::move(data)), declared_(declared) {}

    /// The value, made anew. Throws `ValueError` for a tensor that is malformed.
    [[nodiscard]] Value make() const;
    /// Whether it is the node type's own example.
    [[nodiscard]] bool declared() const noexcept { return declared_; }
    [[nodiscard]] bool has_tensors() const;
    /// Every length of a tensor's dimension in it, the last of each tensor first.
    [[nodiscard]] std::vector<std::int64_t> sizes() const;

private:
    Value data_;
    bool declared_;
};

/// What to try a node on, best first: its example alone if it declares one, else what its ports say. Empty when nothing
/// can be made.
std::vector<Input> inputs_for(const NodeType& type);

/// A value of another kind than the input: none for everything, a dict for none.
Value of_another_kind(const Value& input);

} // namespace soma::cli::verify

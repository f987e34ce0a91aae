// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "soma/graph.h"
#include "soma/node_type.h"

namespace soma::detail {

/// The value as the field wants it: an int becomes a float where it wants one. nullopt when it is of another kind, not
/// among the choices or out of bounds; `why` then says "expected …, got …".
std::optional<Value> fit(const ConfigField& field, const Value& value, std::string& why);

/// What is wrong when the node was made for a later version of its type than this one.
std::optional<std::string> too_old(const Node& node, const NodeType& type);

} // namespace soma::detail

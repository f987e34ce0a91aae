// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "soma/export.h"
#include "soma/graph.h"
#include "soma/node_type.h"

namespace soma::detail {

/// Everything wrong with a node by what its type says, each a `GraphError`'s text that names the node: the type is older
/// than the node was made for, and all of its configuration that `NodeType::checked_config` refuses.
SOMA_API std::vector<std::string> node_faults(const Node& node, const NodeType& type);

} // namespace soma::detail

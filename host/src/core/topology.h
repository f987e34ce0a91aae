// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "soma/graph.h"

namespace soma::detail {

/// The nodes in an order in which every edge leads forward: that of their numbers where it will do. Throws `GraphError`
/// with a cycle when there is one.
std::vector<Graph::Index> topological_order(const Graph& graph);

/// Throws like `topological_order`.
inline void check_acyclic(const Graph& graph) { static_cast<void>(topological_order(graph)); }

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "soma/error.h"
#include "soma/graph.h"

namespace soma::detail {

/// The graph has a cycle; a node of it.
class CycleError : public GraphError {
public:
    CycleError(const std::string& message, Graph::Index node) : GraphError(message), node_(node) {}
    [[nodiscard]] Graph::Index node() const noexcept { return node_; }

private:
    Graph::Index node_;
};

/// The nodes in an order in which every edge leads forward: that of their numbers where it will do. Throws `CycleError`
/// with a cycle when there is one.
std::vector<Graph::Index> topological_order(const Graph& graph);

/// Throws like `topological_order`.
inline void check_acyclic(const Graph& graph) { static_cast<void>(topological_order(graph)); }

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "soma/graph.h"
#include "soma/plan.h"
#include "soma/wire.h"

/// What tests of graphs and plans need: graphs of all shapes, and a judgement of plans that owes nothing to the compiler.
namespace soma::test {

/// The same numbers on every machine.
class Random {
public:
    explicit Random(std::uint32_t seed) : engine_(seed) {}
    /// 0 … limit - 1.
    std::size_t below(std::size_t limit) { return engine_() % limit; }
    bool chance(std::size_t percent) { return below(100) < percent; }

private:
    std::mt19937 engine_;
};

/// One node of the id.
Wire named(const std::string& id);

/// Nodes as the edges mention them.
Graph graph_of(const std::vector<std::pair<std::string, std::string>>& edges);

/// Each possible edge is there with `percent`; numbered in no particular order.
Graph random_dag(Random& random, std::size_t nodes, std::size_t percent);

/// A few edges per node, most to a near one; `percent` of the nodes only continue a chain.
Graph random_sparse_dag(Random& random, std::size_t nodes, std::size_t percent);

/// Nested `>>` and `|`, at random.
Graph random_series_parallel(Random& random, std::size_t nodes);

/// The graph with edges added between nodes of which the one comes before the other anyway.
Graph with_redundant_edges(Random& random, const Graph& graph, std::size_t edges);

/// Which nodes come before which.
class Order {
public:
    explicit Order(const Graph& graph);
    [[nodiscard]] bool before(Graph::Index a, Graph::Index b) const { return before_[a][b]; }
    [[nodiscard]] bool comparable(Graph::Index a, Graph::Index b) const { return before(a, b) || before(b, a); }
    /// No four nodes form an N.
    [[nodiscard]] bool series_parallel() const;

private:
    std::vector<std::vector<bool>> before_;
};

/// Where nodes stand in a plan.
class Places {
public:
    explicit Places(const Plan& plan);
    /// The last common step around both is a wave.
    [[nodiscard]] bool concurrent(std::uint32_t a, std::uint32_t b) const;
    /// The last common step around both is a sequence, and a comes first.
    [[nodiscard]] bool ordered(std::uint32_t a, std::uint32_t b) const;

private:
    [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const;

    const Plan& plan_;
    std::vector<std::uint32_t> step_;   // of the node
    std::vector<std::uint32_t> parent_; // of the step
    std::vector<std::uint32_t> depth_;  // of the step
};

std::size_t depth(const Plan& plan);

/// Empty when the plan is well-formed and runs every node once, after all it reads; else what is wrong.
std::string what_is_wrong(const Graph& graph, const Plan& plan);

} // namespace soma::test

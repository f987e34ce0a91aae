// SPDX-License-Identifier: Apache-2.0
#include "support/plans.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace soma::test {

namespace {

using Index = Graph::Index;
using Edges = std::vector<std::pair<std::size_t, std::size_t>>; // the first comes before the second

// Nodes numbered anew, at random, edges connected in any order.
Graph shuffled(Random& random, std::size_t nodes, Edges edges) {
    std::vector<Index> number(nodes);
    std::iota(number.begin(), number.end(), Index{0});
    for (std::size_t i = nodes; i > 1; --i) std::swap(number[i - 1], number[random.below(i)]);
    for (std::size_t i = edges.size(); i > 1; --i) std::swap(edges[i - 1], edges[random.below(i)]);
    Graph graph;
    for (std::size_t i = 0; i < nodes; ++i) graph.add("test.n");
    for (const auto& [from, to] : edges) graph.connect(number[from], number[to]);
    return graph;
}

Wire random_wire(Random& random, std::size_t nodes) {
    if (nodes == 1) return node("test.n");
    const std::size_t left = 1 + random.below(nodes - 1);
    const Wire first = random_wire(random, left);
    const Wire second = random_wire(random, nodes - left);
    return random.chance(50) ? first >> second : first | second;
}

} // namespace

Wire named(const std::string& id) { return node("test.node").named(id); }

Graph graph_of(const std::vector<std::pair<std::string, std::string>>& edges) {
    Graph graph;
    for (const auto& [from, to] : edges) {
        for (const std::string& id : {from, to}) {
            if (!graph.find(id)) graph.add("test.node", {}, id);
        }
        graph.connect(from, to);
    }
    return graph;
}

Graph random_dag(Random& random, std::size_t nodes, std::size_t percent) {
    Edges edges;
    for (std::size_t i = 0; i < nodes; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (random.chance(percent)) edges.emplace_back(j, i);
        }
    }
    return shuffled(random, nodes, std::move(edges));
}

Graph random_sparse_dag(Random& random, std::size_t nodes, std::size_t percent) {
    Edges edges;
    for (std::size_t i = 1; i < nodes; ++i) {
        const std::size_t near = std::min<std::size_t>(i, 20);
        edges.emplace_back(i - 1 - random.below(near), i);
        if (random.chance(percent)) continue;
        for (std::size_t more = random.below(3); more > 0; --more) edges.emplace_back(random.below(i), i);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return shuffled(random, nodes, std::move(edges));
}

Graph random_series_parallel(Random& random, std::size_t nodes) { return build(random_wire(random, nodes)).graph; }

Graph with_redundant_edges(Random& random, const Graph& graph, std::size_t edges) {
    Graph more = graph;
    const Order order(graph);
    const auto nodes = graph.size();
    for (std::size_t i = 0; i < edges; ++i) {
        const auto a = static_cast<Index>(random.below(nodes));
        const auto b = static_cast<Index>(random.below(nodes));
        const auto inputs = more.inputs(b);
        if (order.before(a, b) && std::find(inputs.begin(), inputs.end(), a) == inputs.end()) more.connect(a, b);
    }
    return more;
}

Order::Order(const Graph& graph) : before_(graph.size(), std::vector<bool>(graph.size(), false)) {
    for (const Graph::Edge& edge : graph.edges()) before_[edge.from][edge.to] = true;
    const std::size_t nodes = graph.size();
    for (std::size_t via = 0; via < nodes; ++via) {
        for (std::size_t a = 0; a < nodes; ++a) {
            if (!before_[a][via]) continue;
            for (std::size_t b = 0; b < nodes; ++b) {
                if (before_[via][b]) before_[a][b] = true;
            }
        }
    }
}

bool Order::series_parallel() const {
    const auto nodes = static_cast<Index>(before_.size());
    // a before c, b before c, b before d, and no other two of them related.
    for (Index b = 0; b < nodes; ++b) {
        for (Index c = 0; c < nodes; ++c) {
            if (!before(b, c)) continue;
            for (Index d = 0; d < nodes; ++d) {
                if (!before(b, d) || comparable(c, d) || c == d) continue;
                for (Index a = 0; a < nodes; ++a) {
                    if (a != b && before(a, c) && !comparable(a, b) && !comparable(a, d)) return false;
                }
            }
        }
    }
    return true;
}

Places::Places(const Plan& plan)
    : plan_(plan), step_(plan.nodes.size()), parent_(plan.steps.size(), 0), depth_(plan.steps.size(), 0) {
    for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
        const Plan::Step& step = plan.steps[i];
        if (step.kind == Plan::Kind::call) {
            step_.at(step.node) = i;
            continue;
        }
        for (std::uint32_t part = i + 1; part < i + step.extent; part += plan.steps.at(part).extent) {
            parent_[part] = i;
            depth_[part] = depth_[i] + 1;
        }
    }
}

std::uint32_t Places::common(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t x = step_[a];
    std::uint32_t y = step_[b];
    while (x != y) (depth_[x] >= depth_[y] ? x : y) = parent_[depth_[x] >= depth_[y] ? x : y];
    return x;
}

bool Places::concurrent(std::uint32_t a, std::uint32_t b) const {
    return plan_.steps[common(a, b)].kind == Plan::Kind::wave;
}

bool Places::ordered(std::uint32_t a, std::uint32_t b) const {
    return plan_.steps[common(a, b)].kind == Plan::Kind::sequence && step_[a] < step_[b];
}

std::size_t depth(const Plan& plan) {
    std::vector<std::size_t> ends;
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        while (!ends.empty() && ends.back() == i) ends.pop_back();
        if (plan.steps[i].kind == Plan::Kind::call) continue;
        ends.push_back(i + plan.steps[i].extent);
        deepest = std::max(deepest, ends.size());
    }
    return deepest;
}

std::string what_is_wrong(const Graph& graph, const Plan& plan) {
    if (plan.nodes.size() != graph.size()) return "it has other nodes";
    if (graph.size() == 0) return plan.steps.empty() ? "" : "it has steps without nodes";
    if (plan.steps.empty() || plan.steps[0].kind != Plan::Kind::sequence || plan.steps[0].extent != plan.steps.size()) {
        return "the root is not a sequence of everything";
    }
    std::vector<int> calls(graph.size(), 0);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const Plan::Step& step = plan.steps[i];
        if (step.kind == Plan::Kind::call) {
            if (step.extent != 1 || step.node >= graph.size()) return "a call is malformed";
            ++calls[step.node];
            const Index graph_input = Plan::graph_input;
            const std::span<const Index> reads(plan.reads.data() + step.reads_begin, step.reads_end - step.reads_begin);
            const auto inputs = graph.inputs(step.node);
            const auto expected = inputs.empty() ? std::span(&graph_input, 1) : inputs;
            if (!std::ranges::equal(reads, expected)) return "a call does not read its node's inputs in order";
            continue;
        }
        std::size_t parts = 0;
        std::size_t part = i + 1;
        std::uint32_t smallest_before = 0;
        for (; part < i + step.extent; part += plan.steps[part].extent, ++parts) {
            if (plan.steps[part].extent == 0) return "a step spans nothing";
            if (plan.steps[part].kind == step.kind) return "a step is directly in one of its own kind";
            std::uint32_t smallest = Plan::graph_input;
            if (step.kind != Plan::Kind::wave) continue;
            for (std::size_t in = part; in < part + plan.steps[part].extent; ++in) {
                if (plan.steps[in].kind == Plan::Kind::call) smallest = std::min(smallest, plan.steps[in].node);
            }
            if (parts > 0 && smallest < smallest_before) return "branches are out of order";
            smallest_before = smallest;
        }
        if (part != i + step.extent) return "a part goes beyond its parent";
        if (parts == 0 || (parts == 1 && i > 0)) return "a step has too few parts";
    }
    if (std::any_of(calls.begin(), calls.end(), [](int n) { return n != 1; })) return "a node is not called once";
    std::vector<Index> sinks;
    for (Index node = 0; node < graph.size(); ++node) {
        if (graph.outputs(node).empty()) sinks.push_back(node);
    }
    if (plan.results != sinks) return "the results are not the sinks";
    const Places places(plan);
    for (const Graph::Edge& edge : graph.edges()) {
        if (!places.ordered(edge.from, edge.to)) {
            return graph.nodes()[edge.from].id + " does not come before " + graph.nodes()[edge.to].id;
        }
    }
    return "";
}

} // namespace soma::test

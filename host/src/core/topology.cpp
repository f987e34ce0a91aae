// SPDX-License-Identifier: Apache-2.0
#include "core/topology.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "soma/error.h"

namespace soma::detail {

namespace {

using Index = Graph::Index;

// Nodes that lie on a cycle, or between two, and the way from one to the next.
class CycleSearch {
public:
    // `waiting`: for every node, how many of its inputs no order could be found for.
    CycleSearch(const Graph& graph, const std::vector<std::uint32_t>& waiting)
        : graph_(graph), inside_(graph.size()), from_(graph.size()), round_(graph.size(), 0) {
        std::vector<std::uint32_t> leads_on(graph.size(), 0);
        std::vector<Index> dead_ends;
        for (Index node = 0; node < graph.size(); ++node) inside_[node] = waiting[node] > 0;
        for (Index node = 0; node < graph.size(); ++node) {
            if (!inside_[node]) continue;
            for (const Index next : graph.outputs(node)) leads_on[node] += inside_[next] ? 1 : 0;
            if (leads_on[node] == 0) dead_ends.push_back(node);
        }
        while (!dead_ends.empty()) {
            const Index node = dead_ends.back();
            dead_ends.pop_back();
            inside_[node] = false;
            for (const Index before : graph.inputs(node)) {
                if (inside_[before] && --leads_on[before] == 0) dead_ends.push_back(before);
            }
        }
    }

    std::vector<Index> shortest() {
        std::vector<Index> best = any();
        std::vector<Index> starts;
        for (Index node = 0; node < graph_.size(); ++node) {
            if (inside_[node]) starts.push_back(node);
        }
        // Trying every start is quadratic; each gets its share of a fixed amount of work.
        constexpr std::size_t all_work = 4'000'000;
        const std::size_t share = std::max<std::size_t>(64, all_work / starts.size());
        std::size_t work = 0;
        for (const Index start : starts) {
            if (best.size() <= 2 || work > all_work) break;
            auto found = through(start, best.size() - 1, share, work);
            if (!found.empty()) best = std::move(found);
        }
        std::rotate(best.begin(), std::min_element(best.begin(), best.end()), best.end());
        return best;
    }

private:
    // Going on from any of them for ever, one is met again.
    std::vector<Index> any() const {
        std::vector<Index> path;
        std::vector<std::size_t> place(graph_.size(), 0);
        auto node = static_cast<Index>(std::find(inside_.begin(), inside_.end(), true) - inside_.begin());
        while (place[node] == 0) {
            path.push_back(node);
            place[node] = path.size();
            const auto out = graph_.outputs(node);
            node = *std::find_if(out.begin(), out.end(), [&](Index next) { return inside_[next]; });
        }
        path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(place[node] - 1));
        return path;
    }

    // The shortest cycle through `start` of at most `longest` nodes; empty when there is none, or it would take too long.
    std::vector<Index> through(Index start, std::size_t longest, std::size_t share, std::size_t& work) {
        ++rounds_;
        std::vector<Index> ring{start};
        std::vector<Index> next_ring;
        std::size_t used = 0;
        for (std::size_t length = 1; length <= longest && !ring.empty(); ++length) {
            next_ring.clear();
            for (const Index node : ring) {
                for (const Index next : graph_.outputs(node)) {
                    ++work;
                    if (++used > share) return {};
                    if (next == start) {
                        std::vector<Index> cycle{node};
                        while (cycle.back() != start) cycle.push_back(from_[cycle.back()]);
                        std::reverse(cycle.begin(), cycle.end());
                        return cycle;
                    }
                    if (!inside_[next] || round_[next] == rounds_) continue;
                    round_[next] = rounds_;
                    from_[next] = node;
                    next_ring.push_back(next);
                }
            }
            ring.swap(next_ring);
        }
        return {};
    }

    const Graph& graph_;
    std::vector<bool> inside_;
    std::vector<Index> from_;
    std::vector<std::uint32_t> round_;
    std::uint32_t rounds_ = 0;
};

[[noreturn]] void fail(const Graph& graph, const std::vector<std::uint32_t>& waiting) {
    const std::vector<Index> cycle = CycleSearch(graph, waiting).shortest();
    constexpr std::size_t shown = 10; // at either end of a long one
    std::string text;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
        if (cycle.size() > 2 * shown && i == shown) {
            text += fmt::format("({} more) -> ", cycle.size() - 2 * shown);
            i = cycle.size() - shown;
        }
        text += graph.nodes()[cycle[i]].id + " -> ";
    }
    throw CycleError(fmt::format("the graph has a cycle: {}{}", text, graph.nodes()[cycle.front()].id), cycle.front());
}

} // namespace

std::vector<Index> topological_order(const Graph& graph) {
    const auto nodes = static_cast<Index>(graph.size());
    std::vector<Index> order(nodes);
    const auto edges = graph.edges();
    if (std::all_of(edges.begin(), edges.end(), [](const Graph::Edge& edge) { return edge.from < edge.to; })) {
        for (Index node = 0; node < nodes; ++node) order[node] = node;
        return order;
    }
    order.clear();
    std::vector<std::uint32_t> waiting(nodes, 0);
    for (const Graph::Edge& edge : edges) ++waiting[edge.to];
    // A stack, so that what follows a node comes right after it where it can.
    std::vector<Index> ready;
    for (Index node = nodes; node-- > 0;) {
        if (waiting[node] == 0) ready.push_back(node);
    }
    while (!ready.empty()) {
        const Index node = ready.back();
        ready.pop_back();
        order.push_back(node);
        const auto out = graph.outputs(node);
        for (auto next = out.rbegin(); next != out.rend(); ++next) {
            if (--waiting[*next] == 0) ready.push_back(*next);
        }
    }
    if (order.size() < nodes) fail(graph, waiting);
    return order;
}

} // namespace soma::detail

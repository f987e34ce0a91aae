// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/reduce.h"
#include "core/topology.h"
#include "soma/plan.h"

namespace soma {

namespace {

using Index = Graph::Index;
using Kind = Plan::Kind;

// Neighbours of every node: ranges of one vector. Edges that lead out of a part are dropped from the ranges once the part
// is cut off.
struct Neighbours {
    std::vector<Index> begin;
    std::vector<Index> end;
    std::vector<Index> nodes;

    [[nodiscard]] std::size_t count(Index node) const { return end[node] - begin[node]; }
    [[nodiscard]] const Index* first(Index node) const { return nodes.data() + begin[node]; }
    [[nodiscard]] const Index* last(Index node) const { return nodes.data() + end[node]; }
};

// Takes the graph apart from the outside in: a part whose pieces have no edge between them is a wave; one that can be cut
// so that everything before the cut precedes everything after it is a sequence. Both are found exactly, whatever edges are
// redundant. A part that is neither goes to the `Reducer`.
class Compiler {
public:
    explicit Compiler(const Graph& graph) : graph_(graph) {}

    Plan compile() {
        const auto size = static_cast<Index>(graph_.size());
        plan_.nodes.reserve(size);
        for (const Node& node : graph_.nodes()) plan_.nodes.push_back(node.id);
        if (size == 0) return std::move(plan_);
        prepare(size);
        plan_.steps.reserve(size + size / 4 + 1);
        open(Kind::sequence);
        tasks_.push_back({What::part, 0, size, 1});
        while (!tasks_.empty()) {
            const Task task = tasks_.back();
            tasks_.pop_back();
            switch (task.what) {
            case What::part: take_part(task); break;
            case What::branch: take_branch(task); break;
            case What::close: close(task.begin); break;
            }
        }
        close(0);
        return std::move(plan_);
    }

private:
    enum class What : std::uint8_t {
        part,   // nodes items_[begin … end), to be written into the sequence that is open
        branch, // the same of a wave that is open; they hang together
        close,  // ends the step `begin`
    };

    struct Task {
        What what;
        Index begin;
        Index end;
        Index depth; // steps open around it
    };

    void prepare(Index size) {
        const auto edges = graph_.edges();
        const auto fill = [&](Neighbours& all, bool outgoing) {
            all.begin.assign(size + 1, 0);
            all.nodes.resize(edges.size());
            for (const Graph::Edge& edge : edges) ++all.begin[(outgoing ? edge.from : edge.to) + 1];
            for (Index node = 0; node < size; ++node) all.begin[node + 1] += all.begin[node];
            all.end.assign(all.begin.begin(), all.begin.end() - 1);
            for (const Graph::Edge& edge : edges) {
                all.nodes[all.end[outgoing ? edge.from : edge.to]++] = outgoing ? edge.to : edge.from;
            }
        };
        fill(after_, true);
        fill(before_, false);
        // Edges come in the order connected, so these are every node's inputs in order.
        reads_begin_.resize(size + 1);
        plan_.reads.reserve(edges.size() + size / 8);
        for (Index node = 0; node < size; ++node) {
            reads_begin_[node] = static_cast<Index>(plan_.reads.size());
            plan_.reads.insert(plan_.reads.end(), before_.first(node), before_.last(node));
            if (before_.count(node) == 0) plan_.reads.push_back(Plan::graph_input);
            if (after_.count(node) == 0) plan_.results.push_back(node);
        }
        reads_begin_[size] = static_cast<Index>(plan_.reads.size());
        items_ = detail::topological_order(graph_);
        part_.assign(size, 0);
        root_.resize(size);
        waiting_.resize(size);
        state_.resize(size);
        // Deep nesting makes this way of going about it quadratic; past so much work the rest is left to the `Reducer`,
        // which is linear, though blind to what lies within a part that is not series-parallel.
        work_left_ = 24 * (static_cast<std::int64_t>(size) + static_cast<std::int64_t>(edges.size())) + 10'000'000;
    }

    Index open(Kind kind) {
        plan_.steps.push_back({kind, 0, 0, 0, 0});
        return static_cast<Index>(plan_.steps.size() - 1);
    }

    void close(Index step) { plan_.steps[step].extent = static_cast<Index>(plan_.steps.size()) - step; }

    void call(Index node) { plan_.steps.push_back({Kind::call, 1, node, reads_begin_[node], reads_begin_[node + 1]}); }

    void take_part(const Task& task) {
        const auto [what, begin, end, depth] = task;
        if (end - begin == 1) return call(items_[begin]);
        if (depth >= Plan::max_depth) {
            for (Index i = begin; i < end; ++i) call(items_[i]);
            return;
        }
        if (work_left_ < 0) return reduce(begin, end, depth);
        const std::vector<Index> pieces = split(begin, end);
        if (pieces.size() == 1) return take_connected(begin, end, depth);
        tasks_.push_back({What::close, open(Kind::wave), 0, 0});
        Index last = end;
        for (std::size_t i = pieces.size(); i-- > 0;) {
            tasks_.push_back({What::branch, pieces[i], last, depth + 1});
            last = pieces[i];
        }
    }

    void take_branch(const Task& task) {
        const auto [what, begin, end, depth] = task;
        if (end - begin == 1) return call(items_[begin]);
        tasks_.push_back({What::close, open(Kind::sequence), 0, 0});
        if (depth + 1 >= Plan::max_depth) {
            for (Index i = begin; i < end; ++i) call(items_[i]);
        } else if (work_left_ < 0) {
            reduce(begin, end, depth + 1);
        } else {
            take_connected(begin, end, depth + 1);
        }
    }

    // Writes nodes that hang together into the sequence that is open.
    void take_connected(Index begin, Index end, Index depth) {
        const std::vector<Index> pieces = cut(begin, end);
        if (pieces.size() == 1) return reduce(begin, end, depth);
        Index last = end;
        for (std::size_t i = pieces.size(); i-- > 0;) {
            ++parts_;
            for (Index item = pieces[i]; item < last; ++item) part_[items_[item]] = parts_;
            tasks_.push_back({What::part, pieces[i], last, depth});
            last = pieces[i];
        }
    }

    // Drops the edges that lead out of the node's part.
    void forget_outside(Neighbours& all, Index node) const {
        Index kept = all.begin[node];
        for (Index i = kept; i < all.end[node]; ++i) {
            const Index other = all.nodes[i];
            if (part_[other] == part_[node]) all.nodes[kept++] = other;
        }
        all.end[node] = kept;
    }

    Index root_of(Index node) {
        while (root_[node] != node) {
            root_[node] = root_[root_[node]];
            node = root_[node];
        }
        return node;
    }

    // Rearranges items_[begin … end) so that what hangs together is together, in the order of the least node number; says
    // where each piece begins. Within a piece the order stays.
    std::vector<Index> split(Index begin, Index end) {
        const bool whole = parts_ == 0; // nothing was cut off yet
        for (Index i = begin; i < end; ++i) {
            const Index node = items_[i];
            work_left_ -= static_cast<std::int64_t>(1 + after_.count(node) + before_.count(node));
            root_[node] = node;
            if (whole) continue;
            forget_outside(after_, node);
            forget_outside(before_, node);
        }
        Index pieces = end - begin;
        for (Index i = begin; i < end; ++i) {
            for (const Index* next = after_.first(items_[i]); next != after_.last(items_[i]); ++next) {
                const Index a = root_of(items_[i]);
                const Index b = root_of(*next);
                if (a == b) continue;
                root_[std::max(a, b)] = std::min(a, b); // so that a root is its piece's least number
                --pieces;
            }
        }
        if (pieces == 1) return {begin};

        std::vector<Index> roots;
        roots.reserve(pieces);
        std::vector<Index>& place = waiting_; // by root: its size, then where its next node goes; free for use here
        for (Index i = begin; i < end; ++i) {
            if (root_[items_[i]] != items_[i]) continue;
            roots.push_back(items_[i]);
            place[items_[i]] = 0;
        }
        if (!std::is_sorted(roots.begin(), roots.end())) std::sort(roots.begin(), roots.end());
        for (Index i = begin; i < end; ++i) ++place[root_of(items_[i])];
        std::vector<Index> begins;
        begins.reserve(pieces);
        Index next = begin;
        for (const Index root : roots) {
            begins.push_back(next);
            next += std::exchange(place[root], next);
        }
        const std::vector<Index> before(items_.begin() + begin, items_.begin() + end);
        for (const Index node : before) items_[place[root_of(node)]++] = node;
        return begins;
    }

    // Where items_[begin … end), which hang together, can be cut so that everything before the cut precedes everything
    // after it. That is so where each node that nothing before the cut follows leads straight to each that waits for
    // nothing after it: between two such there is no room for a third.
    std::vector<Index> cut(Index begin, Index end) {
        constexpr std::uint8_t waits = 0;   // for something after the cut
        constexpr std::uint8_t starts = 1;  // after the cut, and waits for nothing there
        constexpr std::uint8_t ends = 2;    // before the cut, and nothing before it follows
        constexpr std::uint8_t settled = 3; // before the cut
        std::uint64_t all_starts = 0;
        std::uint64_t all_ends = 0;
        std::uint64_t between = 0; // edges from ends to starts
        for (Index i = begin; i < end; ++i) {
            const Index node = items_[i];
            waiting_[node] = static_cast<Index>(before_.count(node));
            work_left_ -= 1 + 2 * static_cast<std::int64_t>(waiting_[node]);
            state_[node] = waiting_[node] == 0 ? starts : waits;
            all_starts += state_[node];
        }
        std::vector<Index> pieces{begin};
        for (Index i = begin; i + 1 < end; ++i) {
            const Index node = items_[i];
            state_[node] = ends;
            --all_starts;
            ++all_ends;
            for (const Index* from = before_.first(node); from != before_.last(node); ++from) {
                if (state_[*from] != ends) continue;
                state_[*from] = settled;
                --all_ends;
                --between; // to the node itself
                for (const Index* to = after_.first(*from); to != after_.last(*from); ++to) {
                    between -= state_[*to] == starts ? 1 : 0;
                }
            }
            for (const Index* to = after_.first(node); to != after_.last(node); ++to) {
                if (--waiting_[*to] > 0) continue;
                state_[*to] = starts;
                ++all_starts;
                for (const Index* from = before_.first(*to); from != before_.last(*to); ++from) {
                    between += state_[*from] == ends ? 1 : 0;
                }
            }
            if (all_ends * all_starts == between) pieces.push_back(i + 1);
        }
        return pieces;
    }

    // Writes what no cut and no split takes apart into the sequence that is open.
    void reduce(Index begin, Index end, Index depth) {
        const std::span<const Index> nodes(items_.data() + begin, end - begin);
        std::vector<Index>& local = waiting_; // by node; free for use here
        for (Index i = 0; i < nodes.size(); ++i) local[nodes[i]] = i;
        std::vector<detail::Reducer::Edge> edges;
        for (Index i = 0; i < nodes.size(); ++i) {
            for (const Index* to = after_.first(nodes[i]); to != after_.last(nodes[i]); ++to) {
                if (part_[*to] == part_[nodes[i]]) edges.push_back({i, local[*to]});
            }
        }
        detail::Reducer reducer(nodes, std::move(edges));
        for (const Index tree : reducer.reduce()) write(reducer, tree, begin, depth);
    }

    // Writes a tree into the sequence that is open.
    void write(const detail::Reducer& reducer, Index root, Index begin, Index depth) {
        using Tree = detail::Reducer;
        struct Item {
            Index tree; // none: ends the step
            Index depth;
            bool in_wave;
            Index step;
        };
        std::vector<Item> todo{{root, depth, false, 0}};
        std::vector<Index> children;
        while (!todo.empty()) {
            const Item item = todo.back();
            todo.pop_back();
            if (item.tree == Tree::none) {
                close(item.step);
                continue;
            }
            const Tree::Tree& tree = reducer.tree(item.tree);
            if (tree.kind == Tree::Kind::node) {
                call(items_[begin + item.tree]);
                continue;
            }
            const bool wave = tree.kind == Tree::Kind::wave && item.depth < Plan::max_depth;
            Index inside = item.depth;
            if (wave || item.in_wave) {
                todo.push_back({Tree::none, 0, false, open(wave ? Kind::wave : Kind::sequence)});
                ++inside;
            }
            children.clear();
            for (Index child = tree.first; child != Tree::none; child = reducer.tree(child).next) {
                children.push_back(child);
            }
            if (wave) {
                const auto earlier = [&](Index a, Index b) {
                    return reducer.tree(a).smallest < reducer.tree(b).smallest;
                };
                if (!std::is_sorted(children.begin(), children.end(), earlier)) {
                    std::sort(children.begin(), children.end(), earlier);
                }
            }
            for (auto child = children.rbegin(); child != children.rend(); ++child) {
                todo.push_back({*child, inside, wave, 0});
            }
        }
    }

    const Graph& graph_;
    Plan plan_;
    std::vector<Index> reads_begin_; // by node, in the plan's reads
    Neighbours after_;
    Neighbours before_;
    std::vector<Index> items_; // nodes, each part a range in topological order
    std::vector<Index> part_;  // which part a node was last cut off with
    Index parts_ = 0;
    std::vector<Index> root_;
    std::vector<Index> waiting_;
    std::vector<std::uint8_t> state_;
    std::vector<Task> tasks_;
    std::int64_t work_left_ = 0;
};

} // namespace

Plan compile(const Graph& graph) { return Compiler(graph).compile(); }

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/reduce.h"
#include "core/topology.h"
#include "soma/plan.h"

namespace soma {

namespace {

using Index = Graph::Index;
using Kind = Plan::Kind;

// Neighbours of every node, by position in the topological order: ranges of one vector. Edges that lead out of a part are
// dropped from the ranges once the part is cut off.
struct Neighbours {
    std::vector<Index> begin;
    std::vector<Index> end;
    std::vector<Index> nodes;

    [[nodiscard]] std::size_t count(Index at) const { return end[at] - begin[at]; }
    [[nodiscard]] const Index* first(Index at) const { return nodes.data() + begin[at]; }
    [[nodiscard]] const Index* last(Index at) const { return nodes.data() + end[at]; }
};

// Takes the graph apart from the outside in: a part whose pieces have no edge between them is a wave; one that can be cut
// so that everything before the cut precedes everything after it is a sequence. Both are found exactly, whatever edges are
// redundant. A part that is neither goes to the `Reducer`.
class Compiler {
public:
    explicit Compiler(const Graph& graph) : graph_(graph), number_(detail::topological_order(graph)) {}

    Plan compile() {
        const auto size = static_cast<Index>(graph_.size());
        plan_.nodes.reserve(size);
        for (const Node& node : graph_.nodes()) plan_.nodes.push_back(node.id);
        if (size == 0) return std::move(plan_);
        plan_.steps.reserve(size + size / 4 + 1);
        plan_.reads.reserve(std::max<std::size_t>(graph_.edges().size(), size));
        for (Index node = 0; node < size; ++node) {
            if (graph_.outputs(node).empty()) plan_.results.push_back(node);
        }
        prepare(size);
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
        std::vector<Index> position(size);
        for (Index at = 0; at < size; ++at) position[number_[at]] = at;
        const auto fill = [&](Neighbours& all, bool outgoing) {
            all.begin.assign(size + 1, 0);
            all.nodes.resize(edges.size());
            for (const Graph::Edge& edge : edges) ++all.begin[position[outgoing ? edge.from : edge.to] + 1];
            for (Index at = 0; at < size; ++at) all.begin[at + 1] += all.begin[at];
            all.end.assign(all.begin.begin(), all.begin.end() - 1);
            for (const Graph::Edge& edge : edges) {
                const Index here = position[outgoing ? edge.from : edge.to];
                all.nodes[all.end[here]++] = position[outgoing ? edge.to : edge.from];
            }
        };
        fill(after_, true);
        fill(before_, false);
        items_.resize(size);
        for (Index at = 0; at < size; ++at) items_[at] = at;
        scratch_.resize(size);
        part_.assign(size, 0);
        root_.resize(size);
        waiting_.resize(size);
        ready_.resize(size);
        followed_.resize(size);
        // Deep nesting makes this way of going about it quadratic; past so much work the rest is left to the `Reducer`,
        // which is linear, though blind to what lies within a part that is not series-parallel.
        work_left_ = 24 * (std::uint64_t{size} + edges.size()) + 10'000'000;
    }

    Index open(Kind kind) {
        plan_.steps.push_back({kind, 0, 0, 0, 0});
        return static_cast<Index>(plan_.steps.size() - 1);
    }

    void close(Index step) { plan_.steps[step].extent = static_cast<Index>(plan_.steps.size()) - step; }

    void call(Index at) {
        const Index node = number_[at];
        const auto inputs = graph_.inputs(node);
        const auto begin = static_cast<Index>(plan_.reads.size());
        if (inputs.empty()) plan_.reads.push_back(Plan::graph_input);
        plan_.reads.insert(plan_.reads.end(), inputs.begin(), inputs.end());
        plan_.steps.push_back({Kind::call, 1, node, begin, static_cast<Index>(plan_.reads.size())});
    }

    bool afford(Index begin, Index end) {
        std::uint64_t cost = end - begin;
        for (Index i = begin; i < end; ++i) cost += after_.count(items_[i]) + before_.count(items_[i]);
        if (cost > work_left_) return false;
        work_left_ -= cost;
        return true;
    }

    void take_part(const Task& task) {
        const auto [what, begin, end, depth] = task;
        if (end - begin == 1) return call(items_[begin]);
        if (depth >= Plan::max_depth) {
            for (Index i = begin; i < end; ++i) call(items_[i]);
            return;
        }
        if (!afford(begin, end)) return reduce(begin, end, depth);
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
        } else if (!afford(begin, end)) {
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
    void forget_outside(Neighbours& all, Index at) const {
        Index kept = all.begin[at];
        for (Index i = kept; i < all.end[at]; ++i) {
            const Index other = all.nodes[i];
            if (part_[other] == part_[at]) all.nodes[kept++] = other;
        }
        all.end[at] = kept;
    }

    Index root_of(Index at) {
        while (root_[at] != at) {
            root_[at] = root_[root_[at]];
            at = root_[at];
        }
        return at;
    }

    // Rearranges items_[begin … end) so that what hangs together is together, in the order of the least node number; says
    // where each piece begins. Within a piece the order stays.
    std::vector<Index> split(Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            forget_outside(after_, items_[i]);
            forget_outside(before_, items_[i]);
            root_[items_[i]] = items_[i];
        }
        Index pieces = end - begin;
        for (Index i = begin; i < end; ++i) {
            for (const Index* next = after_.first(items_[i]); next != after_.last(items_[i]); ++next) {
                const Index a = root_of(items_[i]);
                const Index b = root_of(*next);
                if (a == b) continue;
                root_[std::max(a, b)] = std::min(a, b);
                --pieces;
            }
        }
        if (pieces == 1) return {begin};

        struct Piece {
            Index size;
            Index smallest;
            Index begin;
        };
        std::vector<Piece> found;
        found.reserve(pieces);
        std::vector<Index>& which = waiting_; // by root; free for use here
        for (Index i = begin; i < end; ++i) {
            const Index root = root_of(items_[i]);
            const Index number = number_[items_[i]];
            if (root == items_[i]) { // a root comes before what hangs on it
                which[root] = static_cast<Index>(found.size());
                found.push_back({0, number, 0});
            }
            Piece& piece = found[which[root]];
            ++piece.size;
            piece.smallest = std::min(piece.smallest, number);
        }
        std::vector<Index> order(found.size());
        for (Index i = 0; i < order.size(); ++i) order[i] = i;
        const auto earlier = [&](Index a, Index b) { return found[a].smallest < found[b].smallest; };
        if (!std::is_sorted(order.begin(), order.end(), earlier)) std::sort(order.begin(), order.end(), earlier);
        std::vector<Index> begins;
        begins.reserve(order.size());
        Index place = begin;
        for (const Index i : order) {
            begins.push_back(place);
            found[i].begin = place;
            place += found[i].size;
        }
        std::copy(items_.begin() + begin, items_.begin() + end, scratch_.begin() + begin);
        for (Index i = begin; i < end; ++i) items_[found[which[root_of(scratch_[i])]].begin++] = scratch_[i];
        return begins;
    }

    // Where items_[begin … end), which hang together, can be cut so that everything before the cut precedes everything
    // after it. That is so where each node that nothing before the cut follows leads straight to each that waits for
    // nothing after it: between two such there is no room for a third.
    std::vector<Index> cut(Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const Index at = items_[i];
            waiting_[at] = static_cast<Index>(before_.count(at));
            ready_[at] = waiting_[at] == 0;
            followed_[at] = false;
        }
        std::vector<Index> pieces{begin};
        std::uint64_t ends = 0;    // nodes before the cut that nothing before it follows
        std::uint64_t starts = 0;  // nodes after the cut that wait for nothing after it
        std::uint64_t between = 0; // edges from the former to the latter
        for (Index i = begin; i < end; ++i) starts += ready_[items_[i]];
        for (Index i = begin; i + 1 < end; ++i) {
            const Index at = items_[i];
            ready_[at] = false;
            --starts;
            for (const Index* from = before_.first(at); from != before_.last(at); ++from) {
                if (followed_[*from]) continue;
                followed_[*from] = true;
                --ends;
                --between; // to `at` itself
                for (const Index* to = after_.first(*from); to != after_.last(*from); ++to) between -= ready_[*to];
            }
            ++ends;
            for (const Index* to = after_.first(at); to != after_.last(at); ++to) {
                if (--waiting_[*to] > 0) continue;
                ready_[*to] = true;
                ++starts;
                for (const Index* from = before_.first(*to); from != before_.last(*to); ++from) {
                    between += followed_[*from] ? 0 : 1;
                }
            }
            if (ends * starts == between) pieces.push_back(i + 1);
        }
        return pieces;
    }

    // Writes what no cut and no split takes apart into the sequence that is open.
    void reduce(Index begin, Index end, Index depth) {
        std::vector<Index> numbers;
        std::vector<std::pair<Index, Index>> edges;
        numbers.reserve(end - begin);
        std::vector<Index>& local = waiting_; // by position; free for use here
        for (Index i = begin; i < end; ++i) {
            local[items_[i]] = i - begin;
            numbers.push_back(number_[items_[i]]);
        }
        for (Index i = begin; i < end; ++i) {
            for (const Index* to = after_.first(items_[i]); to != after_.last(items_[i]); ++to) {
                if (part_[*to] == part_[items_[i]]) edges.emplace_back(i - begin, local[*to]);
            }
        }
        detail::Reducer reducer(numbers, std::move(edges));
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
    std::vector<Index> number_; // of the node at a position; everything below is by position
    Neighbours after_;
    Neighbours before_;
    std::vector<Index> items_; // positions, each part a range in rising order
    std::vector<Index> scratch_;
    std::vector<Index> part_; // which part a node was last cut off with
    Index parts_ = 0;
    std::vector<Index> root_;
    std::vector<Index> waiting_;
    std::vector<std::uint8_t> ready_;
    std::vector<std::uint8_t> followed_;
    std::vector<Task> tasks_;
    std::uint64_t work_left_ = 0;
};

} // namespace

Plan compile(const Graph& graph) { return Compiler(graph).compile(); }

} // namespace soma

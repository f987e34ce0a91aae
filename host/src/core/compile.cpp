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
        const std::size_t edges = graph_.edges().size();
        begin_.resize(size + 1);
        end_.resize(size);
        after_.resize(edges);
        reads_begin_.resize(size + 1);
        plan_.reads.resize(edges + size); // room for all to read the graph's input
        Index* after = after_.data();
        Index* read = plan_.reads.data();
        for (Index node = 0; node < size; ++node) {
            begin_[node] = static_cast<Index>(after - after_.data());
            for (const Index next : graph_.outputs(node)) *after++ = next;
            end_[node] = static_cast<Index>(after - after_.data());
            if (end_[node] == begin_[node]) plan_.results.push_back(node);

            reads_begin_[node] = static_cast<Index>(read - plan_.reads.data());
            const auto inputs = graph_.inputs(node);
            for (const Index input : inputs) *read++ = input;
            if (inputs.empty()) {
                *read++ = Plan::graph_input;
                ++sources_;
            }
        }
        reads_begin_[size] = static_cast<Index>(read - plan_.reads.data());
        plan_.reads.resize(reads_begin_[size]);

        items_ = detail::topological_order(graph_);
        part_.assign(size, 0);
        root_.resize(size);
        position_.resize(size);
        // Deep nesting makes this way of going about it quadratic; past so much work the rest is left to the `Reducer`,
        // which is linear, though blind to what lies within a part that is not series-parallel.
        work_left_ = 24 * static_cast<std::int64_t>(size + edges) + 10'000'000;
    }

    // What follows the node, within its part.
    [[nodiscard]] std::span<const Index> after(Index node) const {
        return {after_.data() + begin_[node], after_.data() + end_[node]};
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
    void forget_outside(Index node) {
        Index kept = begin_[node];
        for (Index i = kept; i < end_[node]; ++i) {
            if (part_[after_[i]] == part_[node]) after_[kept++] = after_[i];
        }
        end_[node] = kept;
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
            work_left_ -= 1 + end_[node] - begin_[node];
            root_[node] = node;
            if (!whole) forget_outside(node);
        }
        if (whole && sources_ == 1) return {begin}; // all of it comes from there
        Index pieces = end - begin;
        for (Index i = begin; i < end; ++i) {
            const Index node = items_[i];
            for (const Index next : after(node)) {
                if (root_[next] == root_[node]) continue;
                const Index a = root_of(node);
                const Index b = root_of(next);
                if (a == b) continue;
                root_[std::max(a, b)] = std::min(a, b); // so that a root is its piece's least number
                --pieces;
            }
        }
        if (pieces == 1) return {begin};

        std::vector<Index> roots;
        roots.reserve(pieces);
        std::vector<Index>& place = position_; // by root: its size, then where its next node goes; free for use here
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
    // after it. That is so where each *end*, which nothing before the cut follows, leads straight to each *start*, which
    // waits for nothing after it: between two such there is no room for a third. So their edges need only be counted.
    std::vector<Index> cut(Index begin, Index end) {
        const std::span<const Index> nodes(items_.data() + begin, end - begin);
        const auto size = static_cast<Index>(nodes.size());
        for (Index i = 0; i < size; ++i) position_[nodes[i]] = i;
        // By position: the first that follows, and the last that is followed. A node is an end from where it stands to before
        // the former, and a start from the latter to before where it stands; an edge is one from an end to a start where
        // both are the case.
        first_after_.resize(size);
        last_before_.assign(size, 0);
        for (Index i = 0; i < size; ++i) {
            Index first = size;
            for (const Index next : after(nodes[i])) {
                first = std::min(first, position_[next]);
                last_before_[position_[next]] = i;
            }
            first_after_[i] = first;
            work_left_ -= 2 * (1 + static_cast<std::int64_t>(after(nodes[i]).size()));
        }
        // How the numbers change from one cut to the next, by the position before the cut.
        struct Change {
            Index ends_less;
            Index starts_more;
            Index edges; // modulo 2^32
        };
        std::vector<Change> changes(size + 1, Change{0, 0, 0});
        for (Index i = 0; i < size; ++i) {
            const Index first = first_after_[i];
            ++changes[first].ends_less;
            ++changes[last_before_[i]].starts_more;
            for (const Index next : after(nodes[i])) {
                const Index last = last_before_[position_[next]];
                if (last >= first) continue;
                ++changes[last].edges;
                --changes[first].edges;
            }
        }
        std::vector<Index> pieces{begin};
        std::uint64_t ends = 0;
        std::uint64_t starts = 0;
        Index edges = 0;
        for (Index i = 0; i + 1 < size; ++i) {
            ends += 1 - std::uint64_t{changes[i].ends_less};
            starts += std::uint64_t{changes[i].starts_more} - 1;
            edges += changes[i].edges;
            if (ends * starts == edges) pieces.push_back(begin + i + 1);
        }
        return pieces;
    }

    // Writes what no cut and no split takes apart into the sequence that is open.
    void reduce(Index begin, Index end, Index depth) {
        const std::span<const Index> nodes(items_.data() + begin, end - begin);
        std::size_t most = 0;
        for (Index i = 0; i < nodes.size(); ++i) {
            position_[nodes[i]] = i;
            most += after(nodes[i]).size();
        }
        std::vector<detail::Reducer::Edge> edges(most);
        detail::Reducer::Edge* edge = edges.data();
        for (Index i = 0; i < nodes.size(); ++i) {
            const Index part = part_[nodes[i]];
            for (const Index next : after(nodes[i])) {
                *edge = {i, position_[next]};
                edge += part_[next] == part ? 1 : 0; // else the next is written over it
            }
        }
        edges.resize(static_cast<std::size_t>(edge - edges.data()));
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
    // What follows each node: a range of `after_`, from which edges that lead out of a part are dropped.
    std::vector<Index> begin_;
    std::vector<Index> end_;
    std::vector<Index> after_;
    std::vector<Index> items_; // nodes, each part a range in topological order
    std::vector<Index> part_;  // which part a node was last cut off with
    Index parts_ = 0;
    Index sources_ = 0; // nodes that read the graph's input
    // Kept for their memory.
    std::vector<Index> root_;
    std::vector<Index> position_;
    std::vector<Index> first_after_;
    std::vector<Index> last_before_;
    std::vector<Task> tasks_;
    std::int64_t work_left_ = 0;
};

} // namespace

Plan compile(const Graph& graph) { return Compiler(graph).compile(); }

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#include "core/reduce.h"

#include <algorithm>

namespace soma::detail {

namespace {

using Index = Reducer::Index;

// Scatters a number over 64 bits; sums of these tell sets of numbers apart.
std::uint64_t scatter(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

} // namespace

Reducer::Reducer(std::span<const Index> numbers, std::vector<std::pair<Index, Index>> edges) {
    const std::size_t nodes = numbers.size();
    edges_.reserve(edges.size());
    for (const auto& [from, to] : edges) edges_.push_back({from, to, true});
    const auto fill = [&](Lists& lists, bool outgoing) {
        lists.begin.assign(nodes + 1, 0);
        lists.count.assign(nodes, 0);
        lists.hash.assign(nodes, 0);
        lists.edges.resize(edges.size());
        for (const Edge& edge : edges_) {
            const Index here = outgoing ? edge.from : edge.to;
            ++lists.count[here];
            lists.hash[here] += scatter(outgoing ? edge.to : edge.from);
        }
        for (std::size_t i = 0; i < nodes; ++i) lists.begin[i + 1] = lists.begin[i] + lists.count[i];
        lists.end.assign(lists.begin.begin(), lists.begin.end() - 1);
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            lists.edges[lists.end[outgoing ? edges_[e].from : edges_[e].to]++] = static_cast<Index>(e);
        }
    };
    fill(out_, true);
    fill(in_, false);
    alive_.assign(nodes, true);
    queued_.assign(nodes, true);
    mark_.assign(nodes, 0);
    trees_.reserve(nodes + nodes / 2);
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto node = static_cast<Index>(i);
        end_of_.push_back(node);
        piece_ending_.push_back(node);
        tree_of_.push_back(node);
        trees_.push_back({Kind::node, none, none, none, numbers[i]});
        queue_.push_back(static_cast<Index>(nodes - 1 - i));
    }
    rebuild_table();
}

std::vector<Index> Reducer::reduce() {
    while (!queue_.empty()) {
        const Index piece = queue_.back();
        queue_.pop_back();
        queued_[piece] = false;
        if (alive_[piece]) examine(piece);
    }
    std::vector<Index> left;
    for (std::size_t i = 0; i < alive_.size(); ++i) {
        if (alive_[i]) left.push_back(tree_of_[i]);
    }
    return left;
}

void Reducer::examine(Index piece) {
    for (;;) {
        const Index end = end_of_[piece];
        if (out_.count[end] == 1) {
            const Index next = edges_[only_edge(out_, end)].to;
            if (in_.count[next] == 1) {
                join_series(piece, next);
                continue;
            }
        }
        if (in_.count[piece] == 1) {
            const Index before = edges_[only_edge(in_, piece)].from;
            if (out_.count[before] == 1) {
                const Index first = piece_ending_[before];
                join_series(first, piece);
                piece = first;
                continue;
            }
        }
        if (drop_shortcuts(piece)) continue;
        const Index twin = twin_of(piece);
        if (twin == none) return;
        join_parallel(twin, piece);
        piece = twin;
    }
}

void Reducer::enqueue(Index piece) {
    if (queued_[piece]) return;
    queued_[piece] = true;
    queue_.push_back(piece);
}

Index Reducer::only_edge(Lists& lists, Index node) {
    Index& end = lists.end[node];
    while (!edges_[lists.edges[end - 1]].alive) --end;
    return lists.edges[end - 1];
}

// Calls `what` with every edge of the list that is alive, until it says false.
namespace {

template <class Lists, class Edges, class What>
void for_each_edge(Lists& lists, const Edges& edges, Index node, What what) {
    Index at = lists.begin[node];
    while (at < lists.end[node]) {
        const Index edge = lists.edges[at];
        if (!edges[edge].alive) {
            lists.edges[at] = lists.edges[--lists.end[node]];
        } else {
            ++at;
            if (!what(edge)) return;
        }
    }
}

} // namespace

void Reducer::kill(Index index) {
    Edge& edge = edges_[index];
    edge.alive = false;
    --out_.count[edge.from];
    --in_.count[edge.to];
    out_.hash[edge.from] -= scatter(edge.to);
    in_.hash[edge.to] -= scatter(edge.from);
}

void Reducer::join_series(Index first, Index second) {
    kill(only_edge(in_, second));
    alive_[second] = false;
    end_of_[first] = end_of_[second];
    piece_ending_[end_of_[first]] = first;
    tree_of_[first] = add_to(Kind::sequence, tree_of_[first], tree_of_[second]);
}

void Reducer::join_parallel(Index kept, Index gone) {
    for_each_edge(out_, edges_, end_of_[gone], [&](Index edge) {
        enqueue(edges_[edge].to);
        kill(edge);
        return true;
    });
    for_each_edge(in_, edges_, gone, [&](Index edge) {
        enqueue(piece_ending_[edges_[edge].from]);
        kill(edge);
        return true;
    });
    alive_[gone] = false;
    tree_of_[kept] = add_to(Kind::wave, tree_of_[kept], tree_of_[gone]);
}

Index Reducer::edge_between(Index from, Index to) {
    constexpr Index most = 16;
    Index found = none;
    if (out_.count[from] <= most) {
        for_each_edge(out_, edges_, from, [&](Index edge) {
            if (edges_[edge].to == to) found = edge;
            return found == none;
        });
    } else if (in_.count[to] <= most) {
        for_each_edge(in_, edges_, to, [&](Index edge) {
            if (edges_[edge].from == from) found = edge;
            return found == none;
        });
    }
    return found;
}

// Where the piece reads one other only, or is read by one only, edges that lead past it.
bool Reducer::drop_shortcuts(Index piece) {
    constexpr Index most = 16;
    const Index end = end_of_[piece];
    std::vector<Index> shortcuts;
    if (in_.count[piece] == 1 && out_.count[end] <= most) {
        const Index before = edges_[only_edge(in_, piece)].from;
        for_each_edge(out_, edges_, end, [&](Index edge) {
            const Index found = edge_between(before, edges_[edge].to);
            if (found != none) shortcuts.push_back(found);
            return true;
        });
    } else if (out_.count[end] == 1 && in_.count[piece] <= most) {
        const Index after = edges_[only_edge(out_, end)].to;
        for_each_edge(in_, edges_, piece, [&](Index edge) {
            const Index found = edge_between(edges_[edge].from, after);
            if (found != none) shortcuts.push_back(found);
            return true;
        });
    }
    for (const Index edge : shortcuts) {
        kill(edge);
        enqueue(piece_ending_[edges_[edge].from]);
        enqueue(edges_[edge].to);
    }
    return !shortcuts.empty();
}

std::uint64_t Reducer::key_of(Index piece) const { return in_.hash[piece] * 3 + scatter(out_.hash[end_of_[piece]]); }

bool Reducer::is_stale(const Slot& slot) const { return !alive_[slot.piece] || key_of(slot.piece) != slot.key; }

void Reducer::rebuild_table() {
    std::size_t size = 16;
    while (size < 2 * alive_.size()) size *= 2;
    std::vector<Slot> old(size, Slot{0, none});
    old.swap(table_);
    slots_used_ = 0;
    for (const Slot& slot : old) {
        if (slot.piece == none || is_stale(slot)) continue;
        std::size_t at = slot.key & (size - 1);
        while (table_[at].piece != none) at = (at + 1) & (size - 1);
        table_[at] = slot;
        ++slots_used_;
    }
}

// Another piece that reads the same and is read by the same. When there is none, the piece is kept for later ones.
Index Reducer::twin_of(Index piece) {
    if (slots_used_ * 4 > table_.size() * 3) rebuild_table();
    const std::size_t mask = table_.size() - 1;
    const std::uint64_t key = key_of(piece);
    Slot* place = nullptr;
    std::size_t at = key & mask;
    for (; table_[at].piece != none; at = (at + 1) & mask) {
        Slot& slot = table_[at];
        if (is_stale(slot)) {
            if (place == nullptr) place = &slot;
        } else if (slot.key == key) {
            if (slot.piece == piece) return none;
            if (same_neighbours(slot.piece, piece)) return slot.piece;
        }
    }
    if (place == nullptr) {
        place = &table_[at];
        ++slots_used_;
    }
    *place = {key, piece};
    return none;
}

bool Reducer::same_neighbours(Index a, Index b) {
    const Index end_a = end_of_[a];
    const Index end_b = end_of_[b];
    if (in_.count[a] != in_.count[b] || out_.count[end_a] != out_.count[end_b]) return false;
    ++marks_;
    for_each_edge(in_, edges_, a, [&](Index edge) {
        mark_[edges_[edge].from] = marks_;
        return true;
    });
    bool same = true;
    for_each_edge(in_, edges_, b, [&](Index edge) { return same = mark_[edges_[edge].from] == marks_; });
    if (!same) return false;
    ++marks_;
    for_each_edge(out_, edges_, end_a, [&](Index edge) {
        mark_[edges_[edge].to] = marks_;
        return true;
    });
    for_each_edge(out_, edges_, end_b, [&](Index edge) { return same = mark_[edges_[edge].to] == marks_; });
    return same;
}

// The tree of `left` and `right` together; one that is of the kind already is added to.
Index Reducer::add_to(Kind kind, Index left, Index right) {
    const auto children = [&](Index tree) {
        return trees_[tree].kind == kind ? std::pair(trees_[tree].first, trees_[tree].last) : std::pair(tree, tree);
    };
    const auto [first, middle] = children(left);
    const auto [next, last] = children(right);
    trees_[middle].next = next;
    const Tree joined{kind, first, last, none, std::min(trees_[left].smallest, trees_[right].smallest)};
    if (trees_[left].kind == kind) {
        trees_[left] = joined;
        return left;
    }
    if (trees_[right].kind == kind) {
        trees_[right] = joined;
        return right;
    }
    trees_.push_back(joined);
    return static_cast<Index>(trees_.size() - 1);
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "core/reduce.h"

#include <algorithm>

namespace soma::detail {

namespace {

using Index = Reducer::Index;

// Scatters a number over 32 bits; sums of these tell sets of numbers apart, most of the time.
std::uint32_t scatter(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352d;
    x = (x ^ (x >> 15)) * 0x846ca68b;
    return x ^ (x >> 16);
}

} // namespace

Reducer::Reducer(std::span<const Index> numbers, std::vector<Edge> edges) : edges_(std::move(edges)) {
    const auto nodes = static_cast<Index>(numbers.size());
    out_.lists.resize(nodes);
    in_.lists.assign(nodes, List{0, 0, 0, 0});
    out_.edges.resize(edges_.size());
    in_.edges.resize(edges_.size());
    const auto count = static_cast<Index>(edges_.size());
    Index e = 0;
    for (Index i = 0; i < nodes; ++i) {
        const Index begin = e;
        for (; e < count && edges_[e].from == i; ++e) {
            out_.edges[e] = e;
            ++in_.lists[edges_[e].to].count;
        }
        out_.lists[i] = {begin, e, e - begin, 0};
    }
    Index at = 0;
    for (List& in : in_.lists) {
        in.begin = in.end = at;
        at += in.count;
    }
    for (e = 0; e < count; ++e) in_.edges[in_.lists[edges_[e].to].end++] = e;
    alive_.assign(nodes, 1);
    queued_.assign(nodes, 0);
    mark_.assign(nodes, 0);
    end_of_.resize(nodes);
    trees_.reserve(nodes + nodes / 8);
    for (Index i = 0; i < nodes; ++i) {
        end_of_[i] = i;
        trees_.push_back({Kind::node, none, none, none, numbers[i]});
    }
    piece_ending_ = end_of_;
    tree_of_ = end_of_;
}

std::vector<Reducer::Index> Reducer::reduce() {
    const auto nodes = static_cast<Index>(alive_.size());
    for (Index i = 0; i < nodes; ++i) {
        if (alive_[i] != 0) examine(i);
    }
    while (!queue_.empty()) {
        const Index piece = queue_.back();
        queue_.pop_back();
        queued_[piece] = 0;
        if (alive_[piece] != 0) examine(piece);
    }
    std::vector<Index> left;
    left.reserve(nodes);
    for (Index i = 0; i < nodes; ++i) {
        if (alive_[i] != 0) left.push_back(tree_of_[i]);
    }
    return left;
}

void Reducer::examine(Index piece) {
    for (;;) {
        const Index end = end_of_[piece];
        if (out_.lists[end].count == 1) {
            const Index next = edges_[only_edge(out_, end)].to;
            if (in_.lists[next].count == 1) {
                join_series(piece, next);
                continue;
            }
        }
        if (in_.lists[piece].count == 1) {
            const Index before = edges_[only_edge(in_, piece)].from;
            if (out_.lists[before].count == 1) {
                const Index first = piece_ending_[before];
                join_series(first, piece);
                piece = first;
                continue;
            }
        }
        if (drop_shortcuts(piece)) continue;
        const Index twin = twin_of(piece);
        if (twin == none) return;
        join_parallel(std::min(twin, piece), std::max(twin, piece));
        piece = std::min(twin, piece);
    }
}

void Reducer::enqueue(Index piece) {
    if (queued_[piece] != 0) return;
    queued_[piece] = 1;
    queue_.push_back(piece);
}

Index Reducer::only_edge(Side& side, Index node) {
    Index& end = side.lists[node].end;
    while (edges_[side.edges[end - 1]].from == none) --end;
    return side.edges[end - 1];
}

// Calls `what` with every edge of the node that is not dropped, until it says false.
template <typename What>
void Reducer::for_each_edge(Side& side, Index node, What what) {
    List& list = side.lists[node];
    Index at = list.begin;
    while (at < list.end) {
        const Index edge = side.edges[at];
        if (edges_[edge].from == none) {
            side.edges[at] = side.edges[--list.end];
        } else {
            ++at;
            if (!what(edge)) return;
        }
    }
}

void Reducer::drop(Index index) {
    Edge& edge = edges_[index];
    List& out = out_.lists[edge.from];
    List& in = in_.lists[edge.to];
    --out.count;
    --in.count;
    if (!table_.empty()) {
        out.hash -= scatter(edge.to);
        in.hash -= scatter(edge.from);
    }
    edge.from = none;
}

void Reducer::join_series(Index first, Index second) {
    drop(only_edge(in_, second));
    alive_[second] = 0;
    end_of_[first] = end_of_[second];
    piece_ending_[end_of_[first]] = first;
    tree_of_[first] = add_to(Kind::sequence, tree_of_[first], tree_of_[second]);
}

void Reducer::join_parallel(Index kept, Index gone) {
    for_each_edge(out_, end_of_[gone], [&](Index edge) {
        enqueue(edges_[edge].to);
        drop(edge);
        return true;
    });
    for_each_edge(in_, gone, [&](Index edge) {
        enqueue(piece_ending_[edges_[edge].from]);
        drop(edge);
        return true;
    });
    alive_[gone] = 0;
    tree_of_[kept] = add_to(Kind::wave, tree_of_[kept], tree_of_[gone]);
}

Index Reducer::edge_between(Index from, Index to) {
    constexpr Index most = 16;
    Index found = none;
    if (out_.lists[from].count < 2 || in_.lists[to].count < 2) return none; // one of each leads by way of the piece
    if (out_.lists[from].count <= most) {
        for_each_edge(out_, from, [&](Index edge) {
            if (edges_[edge].to == to) found = edge;
            return found == none;
        });
    } else if (in_.lists[to].count <= most) {
        for_each_edge(in_, to, [&](Index edge) {
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
    if (in_.lists[piece].count != 1 && out_.lists[end].count != 1) return false;
    std::vector<Index>& shortcuts = shortcuts_;
    shortcuts.clear();
    if (in_.lists[piece].count == 1 && out_.lists[end].count <= most) {
        const Index before = edges_[only_edge(in_, piece)].from;
        for_each_edge(out_, end, [&](Index edge) {
            const Index found = edge_between(before, edges_[edge].to);
            if (found != none) shortcuts.push_back(found);
            return true;
        });
    } else if (out_.lists[end].count == 1 && in_.lists[piece].count <= most) {
        const Index after = edges_[only_edge(out_, end)].to;
        for_each_edge(in_, piece, [&](Index edge) {
            const Index found = edge_between(edges_[edge].from, after);
            if (found != none) shortcuts.push_back(found);
            return true;
        });
    }
    for (const Index edge : shortcuts) {
        enqueue(piece_ending_[edges_[edge].from]);
        enqueue(edges_[edge].to);
        drop(edge);
    }
    return !shortcuts.empty();
}

std::uint32_t Reducer::key_of(Index piece) const {
    return in_.lists[piece].hash + scatter(out_.lists[end_of_[piece]].hash);
}

bool Reducer::is_stale(const Slot& slot) const { return alive_[slot.piece] == 0 || key_of(slot.piece) != slot.key; }

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

// Another piece that reads the same and is read by the same. Each of what a piece reads is read by its twin, so where one of
// these is read by few, its twin is among them; likewise the other way. Edges only become fewer, so what could be found in
// this way once can be ever after, and only other pieces are in the table.
Index Reducer::twin_of(Index piece) {
    const Index end = end_of_[piece];
    const Index reads = in_.lists[piece].count;
    const Index readers = out_.lists[end].count;
    if (reads > few || readers > few || (reads == 0 && readers == 0)) return twin_in_table(piece);
    Index least = few + 1;
    Index read = none;
    Index reader = none;
    const auto narrows = [&least](const List& list) {
        const bool fewer = list.count < least;
        if (fewer) least = list.count;
        return fewer;
    };
    for_each_edge(in_, piece, [&](Index edge) {
        const Index from = edges_[edge].from;
        if (narrows(out_.lists[from])) read = from;
        return least > 1;
    });
    if (least == 1) return none;
    for_each_edge(out_, end, [&](Index edge) {
        const Index to = edges_[edge].to;
        if (narrows(in_.lists[to])) reader = to;
        return least > 1;
    });
    if (least == 1) return none;
    if (least > few) return twin_in_table(piece);
    Index twin = none;
    const auto look_at = [&](Index other) {
        if (other != piece && same_neighbours(other, piece)) twin = other;
        return twin == none;
    };
    if (reader != none) {
        for_each_edge(in_, reader, [&](Index edge) { return look_at(piece_ending_[edges_[edge].from]); });
    } else {
        for_each_edge(out_, read, [&](Index edge) { return look_at(edges_[edge].to); });
    }
    return twin;
}

// The same by a table. When there is none, the piece is kept for later ones.
Index Reducer::twin_in_table(Index piece) {
    if (table_.empty()) hash_edges();
    if (slots_used_ * 4 > table_.size() * 3) rebuild_table();
    const std::size_t mask = table_.size() - 1;
    const std::uint32_t key = key_of(piece);
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

void Reducer::hash_edges() {
    for (const Edge& edge : edges_) {
        if (edge.from == none) continue;
        out_.lists[edge.from].hash += scatter(edge.to);
        in_.lists[edge.to].hash += scatter(edge.from);
    }
    rebuild_table();
}

bool Reducer::same_neighbours(Index a, Index b) {
    const Index end_a = end_of_[a];
    const Index end_b = end_of_[b];
    if (in_.lists[a].count != in_.lists[b].count) return false;
    if (out_.lists[end_a].count != out_.lists[end_b].count) return false;
    ++marks_;
    for_each_edge(in_, a, [&](Index edge) {
        mark_[edges_[edge].from] = marks_;
        return true;
    });
    bool same = true;
    for_each_edge(in_, b, [&](Index edge) { return same = mark_[edges_[edge].from] == marks_; });
    if (!same) return false;
    ++marks_;
    for_each_edge(out_, end_a, [&](Index edge) {
        mark_[edges_[edge].to] = marks_;
        return true;
    });
    for_each_edge(out_, end_b, [&](Index edge) { return same = mark_[edges_[edge].to] == marks_; });
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace soma::detail {

/// Finds sequences and waves in a directed acyclic graph from the inside out, in time linear in nodes and edges: a node and
/// the only one that follows it become one; so do nodes that read the same and are read by the same; an edge beside a way
/// that leads from its one end to its other says nothing and is dropped. Whatever is series-parallel ends as one tree.
class Reducer {
public:
    using Index = std::uint32_t;
    static constexpr Index none = 0xffffffff;

    enum class Kind : std::uint8_t { node, sequence, wave };

    struct Tree {
        Kind kind;
        Index first; ///< child; `none` for a node
        Index last;
        Index next;     ///< child of the same parent
        Index smallest; ///< number of a node in it
    };

    /// Nodes 0 … numbers.size() - 1, in an order in which every edge leads forward; `numbers` are what they are called.
    Reducer(std::span<const Index> numbers, std::vector<std::pair<Index, Index>> edges);

    /// What is left, in an order that respects every edge.
    std::vector<Index> reduce();
    /// Node i is tree i.
    [[nodiscard]] const Tree& tree(Index index) const { return trees_[index]; }

private:
    struct Edge {
        Index from; // by the node that ends the piece
        Index to;   // by the node that begins it
        bool alive;
    };
    // Per node, a range of `edges`, from which dead ones are dropped when they are met.
    struct Lists {
        std::vector<Index> begin;
        std::vector<Index> end;
        std::vector<Index> edges;
        std::vector<Index> count;        // of those alive
        std::vector<std::uint64_t> hash; // of the ends they lead to
    };
    struct Slot {
        std::uint64_t key;
        Index piece; // none: free
    };

    void examine(Index piece);
    Index only_edge(Lists& lists, Index node);
    Index edge_between(Index from, Index to);
    void kill(Index edge);
    void enqueue(Index piece);
    void join_series(Index first, Index second);
    void join_parallel(Index kept, Index gone);
    bool drop_shortcuts(Index piece);
    Index twin_of(Index piece);
    bool same_neighbours(Index a, Index b);
    [[nodiscard]] std::uint64_t key_of(Index piece) const;
    [[nodiscard]] bool is_stale(const Slot& slot) const;
    void rebuild_table();
    Index add_to(Kind kind, Index left, Index right);

    std::vector<Edge> edges_;
    Lists out_;
    Lists in_;
    // A piece is called by the node it begins with; this is the node it ends with, and the other way round.
    std::vector<Index> end_of_;
    std::vector<Index> piece_ending_;
    std::vector<bool> alive_;
    std::vector<Index> tree_of_;
    std::vector<Tree> trees_;
    std::vector<Index> queue_;
    std::vector<bool> queued_;
    std::vector<Slot> table_;
    std::size_t slots_used_ = 0;
    std::vector<Index> mark_;
    Index marks_ = 0;
};

} // namespace soma::detail

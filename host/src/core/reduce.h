// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
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

    struct Edge {
        Index from; ///< the node that ends the piece; `none` once the edge is dropped
        Index to;   ///< the node that begins it
    };

    /// Nodes 0 … numbers.size() - 1, in an order in which every edge leads forward; `numbers` are what they are called. The
    /// edges are in the order of `from`.
    Reducer(std::span<const Index> numbers, std::vector<Edge> edges);

    /// What is left, in an order that respects every edge.
    std::vector<Index> reduce();
    /// Node i is tree i.
    [[nodiscard]] const Tree& tree(Index index) const { return trees_[index]; }

private:
    static constexpr Index few = 16;

    // Of one node, on one side: a range of `edges` below, from which dropped ones are taken out when they are met.
    struct List {
        Index begin;
        Index end;
        Index count;        // of edges that are not dropped
        std::uint32_t hash; // of the nodes they lead to, once there is a table
    };
    struct Side {
        std::vector<List> lists;  // by node
        std::vector<Index> edges; // numbers of edges
    };
    struct Slot {
        std::uint32_t key;
        Index piece; // none: free
    };

    template <typename What>
    void for_each_edge(Side& side, Index node, What what);
    void examine(Index piece);
    Index only_edge(Side& side, Index node);
    Index edge_between(Index from, Index to);
    void drop(Index edge);
    void enqueue(Index piece);
    void join_series(Index first, Index second);
    void join_parallel(Index kept, Index gone);
    bool drop_shortcuts(Index piece);
    Index twin_of(Index piece);
    Index twin_in_table(Index piece);
    void hash_edges();
    bool same_neighbours(Index a, Index b);
    [[nodiscard]] std::uint32_t key_of(Index piece) const;
    [[nodiscard]] bool is_stale(const Slot& slot) const;
    void rebuild_table();
    Index add_to(Kind kind, Index left, Index right);

    std::vector<Edge> edges_;
    Side out_;
    Side in_;
    // A piece is called by the node it begins with; this is the node it ends with, and the other way round.
    std::vector<Index> end_of_;
    std::vector<Index> piece_ending_;
    std::vector<std::uint8_t> alive_;
    std::vector<Index> tree_of_;
    std::vector<Tree> trees_;
    std::vector<Index> shortcuts_; // kept for its memory
    std::vector<Index> queue_;
    std::vector<std::uint8_t> queued_;
    std::vector<Slot> table_;
    std::size_t slots_used_ = 0;
    std::vector<Index> mark_;
    Index marks_ = 0;
};

} // namespace soma::detail

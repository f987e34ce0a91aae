// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "soma/detail/index_list.h"
#include "soma/export.h"
#include "soma/value.h"

namespace soma {

/// A node as data: which type, configured how.
struct Node {
    std::string id;                 ///< Names it within the graph.
    std::string type;               ///< "nn.linear"
    Value config;                   ///< a dict that is not empty, or none
    std::uint32_t type_version = 0; ///< of the node type; 0 when not said
};

/// What: nodes and edges, nothing else. Any directed acyclic graph. A value; not locked, so a graph that several threads
/// share must no longer change.
///
/// Nodes are numbered in the order they were added; edges into a node keep the order they were connected in, which is
/// the order in which a node with several inputs finds them in its list. Cycles are found by `compile`, not here.
class SOMA_API Graph {
public:
    using Index = std::uint32_t; ///< A node by its place in the order added.

    /// Who reads whom.
    struct Edge {
        Index from;                                                 ///< Writes.
        Index to;                                                   ///< Reads.
        friend bool operator==(const Edge&, const Edge&) = default; ///< Same ends.
    };

    /// Adds a node. Without an id it gets the last part of the type's name, with `_2`, `_3` where that is taken. An
    /// explicit id that is taken, empty or malformed is a `GraphError`. Ids: letters, digits, `_`, `-`, `.`; not starting
    /// with a digit, `-` or `.`. Types: `family.name`, each part of letters, digits and `_`. A configuration that is
    /// neither a dict nor none is a `GraphError` too; an empty dict is kept as none.
    Index add(std::string_view type, Value config = {}, std::optional<std::string_view> id = std::nullopt);
    /// An edge. Unknown ids (the nearest is offered), self-loops and an edge given twice are `GraphError`s.
    void connect(std::string_view from, std::string_view to);
    void connect(Index from, Index to); ///< Likewise.

    /// Says which version of its type a node was made for.
    void set_type_version(Index node, std::uint32_t version) { nodes_.at(node).type_version = version; }

    [[nodiscard]] std::span<const Node> nodes() const noexcept { return nodes_; } ///< In the order added.
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }     ///< How many.
    [[nodiscard]] std::optional<Index> find(std::string_view id) const;           ///< By id.
    /// Like `find`, but an unknown id is a `GraphError` that offers the nearest.
    [[nodiscard]] Index index(std::string_view id) const;
    /// Nodes that `node` reads, or that read it, in the order connected.
    [[nodiscard]] std::span<const Index> inputs(Index node) const { return inputs_.at(node).span(); }
    [[nodiscard]] std::span<const Index> outputs(Index node) const { return outputs_.at(node).span(); } ///< Likewise.
    /// Every edge, in the order connected.
    [[nodiscard]] std::span<const Edge> edges() const noexcept { return edges_; }

    /// {"nodes": [{"id", "type", "config"?, "version"?}…], "edges": [["a", "b"]…]}; round trip is exact. A configuration
    /// that JSON cannot hold (a tensor, bytes, a NaN) is a `GraphError` naming the node.
    [[nodiscard]] std::string to_json() const;
    /// Throws `GraphError` that says which entry is wrong, and how.
    static Graph from_json(std::string_view text);
    /// Graphviz text; `labels` adds a second line under a node (its device, say), by index; may be empty.
    [[nodiscard]] std::string to_dot(std::span<const std::string> labels = {}) const;

    /// The same nodes in the same order, each reading the same inputs in the same order.
    SOMA_API friend bool operator==(const Graph& a, const Graph& b);

private:
    // Ids are found through a table of node numbers, open addressing: the names are stored once, in the nodes.
    struct Entry {
        std::uint32_t hash;
        Index node; // 0xffffffff: free
    };

    std::size_t slot(std::string_view id, std::uint32_t hash) const;
    std::string free_id(std::string_view type);
    bool is_connected(Index from, Index to);

    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
    std::vector<detail::IndexList> inputs_;
    std::vector<detail::IndexList> outputs_;
    std::vector<Entry> table_;                                   // a power of two, half empty
    std::unordered_map<std::string, std::uint32_t> next_suffix_; // by last part of a type: the first `_N` not yet tried
    std::unordered_set<std::uint64_t> edge_set_;                 // once a graph is dense; holds all edges then
};

} // namespace soma

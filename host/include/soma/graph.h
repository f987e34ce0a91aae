// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "soma/export.h"
#include "soma/value.h"

namespace soma {

/// A node as data: which type, configured how.
struct Node {
    std::string id;
    std::string type;              ///< "nn.linear"
    Value config;                  ///< a dict, or none
    std::uint32_t type_version = 0; ///< of the node type; 0 when not said
};

/// What: nodes and edges, nothing else. Any directed acyclic graph. A value.
///
/// Nodes are numbered in the order they were added; edges into a node keep the order they were connected in, which is
/// the order in which a node with several inputs finds them in its list.
class SOMA_API Graph {
public:
    using Index = std::uint32_t;

    /// Adds a node. Without an id it gets the last part of the type's name, with `_2`, `_3` where that is taken. An
    /// explicit id that is taken, empty or malformed is a `GraphError`. Ids: letters, digits, `_`, `-`, `.`; not starting
    /// with a digit.
    Index add(std::string_view type, Value config = {}, std::optional<std::string_view> id = std::nullopt);
    /// An edge. Unknown ids (the nearest is offered), self-loops and an edge given twice are `GraphError`s.
    void connect(std::string_view from, std::string_view to);
    void connect(Index from, Index to);

    [[nodiscard]] std::span<const Node> nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::optional<Index> find(std::string_view id) const;
    /// Like `find`, but an unknown id is a `GraphError` that offers the nearest.
    [[nodiscard]] Index index(std::string_view id) const;
    /// In the order connected.
    [[nodiscard]] std::span<const Index> inputs(Index node) const { return inputs_.at(node); }
    [[nodiscard]] std::span<const Index> outputs(Index node) const { return outputs_.at(node); }

    /// {"nodes": [{"id", "type", "config"?, "version"?}…], "edges": [["a", "b"]…]}; round trip is exact.
    [[nodiscard]] std::string to_json() const;
    static Graph from_json(std::string_view text);
    /// Graphviz text; `labels` adds a second line under a node (its device, say), by index; may be empty.
    [[nodiscard]] std::string to_dot(std::span<const std::string> labels = {}) const;

    SOMA_API friend bool operator==(const Graph& a, const Graph& b);

private:
    std::vector<Node> nodes_;
    std::vector<std::vector<Index>> inputs_;
    std::vector<std::vector<Index>> outputs_;
    std::unordered_map<std::string, Index> by_id_;
};

} // namespace soma

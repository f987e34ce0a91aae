// SPDX-License-Identifier: Apache-2.0
#include "soma/graph.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "core/names.h"
#include "core/quote.h"
#include "soma/error.h"
#include "soma/suggest.h"

namespace soma {

namespace {

constexpr Graph::Index no_node = std::numeric_limits<Graph::Index>::max();

std::uint32_t hash_of(std::string_view id) {
    const std::uint64_t hash = std::hash<std::string_view>{}(id);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::uint64_t key_of(Graph::Index from, Graph::Index to) { return (std::uint64_t{from} << 32) | to; }

std::string nearest_node(std::string_view id, std::span<const Node> nodes) {
    std::vector<std::string> ids;
    ids.reserve(nodes.size());
    for (const Node& node : nodes) ids.push_back(node.id);
    return did_you_mean(id, ids);
}

} // namespace

// Where the id is, or where it would be put. The table has room.
std::size_t Graph::slot(std::string_view id, std::uint32_t hash) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash & mask;
    while (table_[at].node != no_node && (table_[at].hash != hash || nodes_[table_[at].node].id != id)) {
        at = (at + 1) & mask;
    }
    return at;
}

std::optional<Graph::Index> Graph::find(std::string_view id) const {
    if (table_.empty()) return std::nullopt;
    const Index node = table_[slot(id, hash_of(id))].node;
    return node == no_node ? std::nullopt : std::optional<Index>(node);
}

Graph::Index Graph::index(std::string_view id) const {
    if (const auto node = find(id)) return *node;
    throw GraphError(fmt::format("there is no node {} in the graph{}", detail::quoted(id), nearest_node(id, nodes_)));
}

std::string Graph::free_id(std::string_view type) {
    std::string id(detail::default_id(type));
    if (!find(id)) return id;
    std::uint32_t& suffix = next_suffix_.try_emplace(id, 2).first->second;
    std::string numbered;
    do {
        numbered = detail::numbered_id(id, suffix++);
    } while (find(numbered));
    return numbered;
}

Graph::Index Graph::add(std::string_view type, Value config, std::optional<std::string_view> id) {
    detail::check_type(type);
    if (id) detail::check_id(*id);
    if (!config.is_none() && config.kind() != Kind::dict) {
        throw GraphError(fmt::format("the configuration of a node of type `{}` is of kind {}, not a dict", type,
                                     to_string(config.kind())));
    }
    if (nodes_.size() >= no_node) throw GraphError("the graph has as many nodes as can be numbered");
    if (config.size() == 0) config = Value(); // one way to say that nothing is configured
    std::string name = id ? std::string(*id) : free_id(type);

    if (table_.size() < 2 * (nodes_.size() + 1)) {
        std::vector<Entry> old(std::max<std::size_t>(16, 2 * table_.size()), Entry{0, no_node});
        old.swap(table_);
        const std::size_t mask = table_.size() - 1;
        for (const Entry& entry : old) {
            if (entry.node == no_node) continue;
            std::size_t at = entry.hash & mask;
            while (table_[at].node != no_node) at = (at + 1) & mask;
            table_[at] = entry;
        }
    }
    const std::uint32_t hash = hash_of(name);
    Entry& entry = table_[slot(name, hash)];
    if (entry.node != no_node) {
        throw GraphError(
            fmt::format("two nodes have the id `{}`: one of type `{}` and one of type `{}`; name one of them "
                        "otherwise",
                        name, nodes_[entry.node].type, type));
    }
    const auto node = static_cast<Index>(nodes_.size());
    inputs_.emplace_back();
    outputs_.emplace_back();
    nodes_.push_back({std::move(name), std::string(type), std::move(config), 0});
    entry = {hash, node};
    return node;
}

bool Graph::is_connected(Index from, Index to) {
    const auto out = outputs_[from].span();
    const auto in = inputs_[to].span();
    constexpr std::size_t few = 16; // so many are looked through faster than a set is asked
    if (edge_set_.empty() && out.size() > few && in.size() > few) {
        edge_set_.reserve(2 * edges_.size());
        for (const Edge& edge : edges_) edge_set_.insert(key_of(edge.from, edge.to));
    }
    if (!edge_set_.empty()) return !edge_set_.insert(key_of(from, to)).second;
    return out.size() < in.size() ? std::find(out.begin(), out.end(), to) != out.end()
                                  : std::find(in.begin(), in.end(), from) != in.end();
}

void Graph::connect(std::string_view from, std::string_view to) {
    const Index first = index(from);
    connect(first, index(to));
}

void Graph::connect(Index from, Index to) {
    for (const Index node : {from, to}) {
        if (node >= nodes_.size()) {
            throw GraphError(fmt::format("there is no node number {}: the graph has {}", node, nodes_.size()));
        }
    }
    if (from == to) throw GraphError(fmt::format("node `{}` is wired to itself", nodes_[from].id));
    if (edges_.size() >= std::numeric_limits<Index>::max()) throw GraphError("the graph has too many edges");
    if (is_connected(from, to)) {
        throw GraphError(fmt::format("`{}` is wired to `{}` twice; a node reads another's result once", nodes_[from].id,
                                     nodes_[to].id));
    }
    edges_.push_back({from, to});
    outputs_[from].push_back(to);
    inputs_[to].push_back(from);
}

std::string Graph::to_dot(std::span<const std::string> labels) const {
    const auto escape = [](std::string_view text) {
        std::string out;
        for (const char c : text) {
            if (c == '"' || c == '\\') out += '\\';
            if (c == '\n') {
                out += "\\n";
            } else {
                out += c;
            }
        }
        return out;
    };
    std::string out = "digraph somatize {\n  rankdir=LR;\n  node [shape=box];\n";
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        std::string label = escape(node.id);
        if (i < labels.size() && !labels[i].empty()) label += "\\n" + escape(labels[i]);
        out += fmt::format("  \"{}\" [label=\"{}\", tooltip=\"{}\"];\n", escape(node.id), label, escape(node.type));
    }
    for (const Edge& edge : edges_) {
        out += fmt::format("  \"{}\" -> \"{}\";\n", escape(nodes_[edge.from].id), escape(nodes_[edge.to].id));
    }
    out += "}\n";
    return out;
}

bool operator==(const Graph& a, const Graph& b) {
    const auto same = [](const Node& x, const Node& y) {
        return x.id == y.id && x.type == y.type && x.type_version == y.type_version && x.config == y.config;
    };
    return std::equal(a.nodes_.begin(), a.nodes_.end(), b.nodes_.begin(), b.nodes_.end(), same) &&
           a.inputs_ == b.inputs_;
}

} // namespace soma

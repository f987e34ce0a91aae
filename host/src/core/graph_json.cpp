// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "core/not_json.h"
#include "core/quote.h"
#include "soma/error.h"
#include "soma/graph.h"
#include "soma/json.h"
#include "soma/suggest.h"

namespace soma {

namespace {

[[noreturn]] void malformed(std::string_view where, std::string_view why) {
    throw GraphError(fmt::format("the graph cannot be read: {}: {}", where, why));
}

// Every key of the dict is one of `known`.
void check_keys(const Value& dict, std::string_view where, std::span<const std::string> known) {
    for (std::size_t i = 0; i < dict.size(); ++i) {
        const std::string_view key = dict.key(i);
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            malformed(where, fmt::format("unknown key {}{}", detail::quoted(key), did_you_mean(key, known)));
        }
    }
}

const Value& list_of(const Value& dict, std::string_view key) {
    const Value* found = dict.find(key);
    if (found == nullptr) malformed("the top level", fmt::format("key `{}` is missing", key));
    if (found->kind() != Kind::list) {
        malformed(fmt::format("`{}`", key), fmt::format("a list is wanted, not {}", to_string(found->kind())));
    }
    return *found;
}

std::string_view text_of(const Value& dict, std::string_view key, std::string_view where) {
    const Value* found = dict.find(key);
    if (found == nullptr) malformed(where, fmt::format("key `{}` is missing", key));
    if (found->kind() != Kind::string) {
        malformed(where, fmt::format("`{}` is of kind {}, not string", key, to_string(found->kind())));
    }
    return found->as_string();
}

Value read(std::string_view text) {
    try {
        return parse_json(text);
    } catch (const ValueError& error) {
        throw GraphError(fmt::format("the graph cannot be read: {}", error.what()));
    }
}

} // namespace

std::string Graph::to_json() const {
    std::string out = "{\"nodes\": [";
    std::string_view between = "\n  ";
    for (const Node& node : nodes_) {
        out += between;
        between = ",\n  ";
        out += fmt::format(R"({{"id": "{}", "type": "{}")", node.id, node.type); // neither can hold what JSON escapes
        if (!node.config.is_none()) {
            if (const auto what = detail::not_json(node.config)) {
                throw GraphError(
                    fmt::format("the configuration of node `{}` has {}, which JSON cannot hold", node.id, *what));
            }
            out += ", \"config\": " + soma::to_json(node.config);
        }
        if (node.type_version != 0) out += fmt::format(", \"version\": {}", node.type_version);
        out += '}';
    }
    out += nodes_.empty() ? "], \"edges\": [" : "\n], \"edges\": [";
    between = "\n  ";
    for (const Edge& edge : edges_) {
        out += between;
        between = ",\n  ";
        out += fmt::format(R"(["{}", "{}"])", nodes_[edge.from].id, nodes_[edge.to].id);
    }
    out += edges_.empty() ? "]}\n" : "\n]}\n";
    return out;
}

Graph Graph::from_json(std::string_view text) {
    static const std::array<std::string, 2> graph_keys{"nodes", "edges"};
    static const std::array<std::string, 4> node_keys{"id", "type", "config", "version"};

    const Value value = read(text);
    if (value.kind() != Kind::dict) malformed("the top level", "an object with `nodes` and `edges` is wanted");
    check_keys(value, "the top level", graph_keys);
    Graph graph;
    const Value& nodes = list_of(value, "nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string where = fmt::format("node {}", i);
        const Value& entry = nodes.at(i);
        if (entry.kind() != Kind::dict) malformed(where, R"(an object such as {"id": …, "type": …} is wanted)");
        check_keys(entry, where, node_keys);
        const Value* config = entry.find("config");
        const Value* version = entry.find("version");
        const std::string_view type = text_of(entry, "type", where);
        const std::string_view id = text_of(entry, "id", where);
        try {
            graph.add(type, config == nullptr ? Value() : *config, id);
        } catch (const GraphError& error) {
            malformed(where, error.what());
        }
        if (version != nullptr) {
            if (version->kind() != Kind::integer || version->as_int() < 0 ||
                version->as_int() > std::numeric_limits<std::uint32_t>::max()) {
                malformed(where, "`version` is not a whole number that fits 32 bits");
            }
            graph.set_type_version(static_cast<Index>(i), static_cast<std::uint32_t>(version->as_int()));
        }
    }
    const Value& edges = list_of(value, "edges");
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const std::string where = fmt::format("edge {}", i);
        const Value& entry = edges.at(i);
        if (entry.kind() != Kind::list || entry.size() != 2 || entry.at(0).kind() != Kind::string ||
            entry.at(1).kind() != Kind::string) {
            malformed(where, R"(a list of two ids such as ["a", "b"] is wanted)");
        }
        try {
            graph.connect(entry.at(0).as_string(), entry.at(1).as_string());
        } catch (const GraphError& error) {
            malformed(where, error.what());
        }
    }
    return graph;
}

} // namespace soma

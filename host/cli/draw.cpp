// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "console.h"
#include "graph.h"
#include "soma/json.h"

namespace soma::cli {

namespace {

/// The graph with the version of each node's type in it: a file outlives the plugins of today.
Graph with_versions(const Work& work) {
    Graph graph = work.wired.graph;
    for (Graph::Index i = 0; i < graph.size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (node.type_version == 0) graph.set_type_version(i, work.catalog.get(node.type)->version);
    }
    return graph;
}

} // namespace

Exit draw_command(Args args) {
    Arguments arguments("draw", "Writes the graph for Graphviz, each node with its device.",
                        "somatize draw 'text.tokenize >> nn.encoder.on(\"cuda:0\")' | dot -Tsvg > graph.svg");
    GraphOptions options;
    options.declare(arguments);
    if (!arguments.parse(args)) return Exit::ok;

    const Work work = load(options);
    require_valid(work);
    if (options.json) {
        // A graph's own JSON: it is a GRAPH again.
        note_simulated(work);
        write_out(to_json(parse_json(with_versions(work).to_json()), 2) + "\n");
        leave(Exit::ok);
    }
    std::vector<std::string> labels;
    for (const Node& node : work.wired.graph.nodes()) {
        labels.push_back(work.wired.placement.of(node.id) ? device_label(work, node.id) : std::string());
    }
    std::string text = work.wired.graph.to_dot(labels);
    if (!text.empty() && text.back() != '\n') text += '\n';
    if (work.simulated != 0) text.insert(0, "// " + simulated_header(work) + "\n");
    write_out(text);
    leave(Exit::ok);
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command.h"
#include "console.h"
#include "graph.h"
#include "table.h"

namespace soma::cli {

namespace {

/// The graph with the version of each node's type in it: a file outlives the plugins of today.
Graph with_versions(const Work& work) {
    Graph graph = work.graph();
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
        write_out(indented(with_versions(work).to_json()) + "\n");
        if (work.placement().size() != 0) {
            report_warning(fmt::format(
                "{} placed, which a graph's JSON does not say; `somatize devices --json` prints "
                "what `--placement` reads back",
                work.placement().size() == 1 ? "1 node is" : fmt::format("{} nodes are", work.placement().size())));
        }
        leave(Exit::ok);
    }
    std::vector<std::string> labels;
    for (const Node& node : work.graph().nodes()) {
        labels.push_back(work.placement().of(node.id) ? device_label(work, node.id) : std::string());
    }
    std::string text = work.graph().to_dot(labels);
    if (!text.empty() && text.back() != '\n') text += '\n';
    if (work.simulated != 0) text.insert(0, "// " + simulated_header(work) + "\n");
    write_out(text);
    leave(Exit::ok);
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "console.h"
#include "graph.h"
#include "soma/json.h"

namespace soma::cli {

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
        write_out(to_json(parse_json(work.wired.graph.to_json()), 2) + "\n");
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

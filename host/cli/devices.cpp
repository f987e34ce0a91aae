// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "console.h"
#include "graph.h"
#include "soma/json.h"
#include "table.h"

namespace soma::cli {

Exit devices_command(Args args) {
    Arguments arguments("devices", "Shows where nodes run: the device of each, or that it is unplaced.",
                        "somatize devices 'text.tokenize >> nn.encoder.on(\"cuda:0\")'");
    GraphOptions options;
    options.declare(arguments);
    if (!arguments.parse(args)) return Exit::ok;

    const Work work = load(options);
    require_valid(work);
    if (options.json) {
        std::vector<std::pair<std::string, Value>> devices;
        for (const Node& node : work.graph().nodes()) {
            const auto device = work.placement().of(node.id);
            devices.emplace_back(node.id, device ? Value(device->str()) : Value());
        }
        std::vector<std::pair<std::string, Value>> out{{"devices", Value::dict(std::move(devices))}};
        if (work.simulated != 0) out.emplace_back("simulated", simulated_list(work));
        write_out(to_json(Value::dict(std::move(out)), 2) + "\n");
        leave(Exit::ok);
    }
    Table table;
    for (const Node& node : work.graph().nodes()) table.row({node.id, device_label(work, node.id)});
    std::string text = table.str();
    if (work.simulated != 0) text.insert(0, simulated_header(work) + "\n\n");
    write_out(text);
    leave(Exit::ok);
}

} // namespace soma::cli

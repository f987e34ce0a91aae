// SPDX-License-Identifier: Apache-2.0
#include "soma/plan.h"

#include <fmt/format.h>

#include "command.h"
#include "console.h"
#include "graph.h"
#include "soma/json.h"
#include "table.h"

namespace soma::cli {

Exit plan_command(Args args) {
    Arguments arguments("plan", "Shows when nodes run: in sequence, and in waves whose branches run side by side.",
                        "somatize plan 'text.tokenize >> (nn.bag | nn.encoder) >> flow.join'");
    GraphOptions options;
    options.declare(arguments);
    if (!arguments.parse(args)) return Exit::ok;

    const Work work = load(options);
    require_valid(work);
    const Plan plan = compile(work.graph());
    if (options.json) {
        // As text: a plan may nest deeper than JSON is read.
        std::string out = fmt::format(R"({{"plan": {}, "width": {})", plan.to_json(), plan.width());
        if (work.simulated != 0) out += fmt::format(R"(, "simulated": {})", to_json(simulated_list(work)));
        write_out(indented(out + "}") + "\n");
        leave(Exit::ok);
    }
    std::string text = plan.str();
    if (!text.empty() && text.back() != '\n') text += '\n';
    if (work.simulated != 0) text.insert(0, simulated_header(work) + "\n\n");
    write_out(text);
    leave(Exit::ok);
}

} // namespace soma::cli

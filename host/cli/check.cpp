// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command.h"
#include "console.h"
#include "graph.h"
#include "soma/detail/missing.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/plan.h"

namespace soma::cli {

namespace {

/// What only the whole graph shows, and with `here` what this machine lacks.
void find_more(const Work& work, bool here, std::vector<Problem>& found) {
    try {
        (void)compile(work.graph());
    } catch (const GraphError& error) {
        found.push_back({Exit::not_valid, error.what()});
    }
    if (!here) return;
    if (work.simulated != 0) simulate_cuda(work.simulated);
    if (auto missing = detail::missing_devices(work.placement())) {
        found.push_back({Exit::not_valid, std::move(*missing)});
    }
}

} // namespace

Exit check_command(Args args) {
    Arguments arguments("check", "Checks everything short of running: grammar, types, configurations, placement.",
                        "somatize check --here 'text.tokenize >> nn.encoder.on(\"cpu\")'");
    GraphOptions options;
    bool here = false;
    options.declare(arguments);
    arguments.flag("--here", "also that this machine has the devices", here);
    if (!arguments.parse(args)) return Exit::ok;

    std::vector<Problem> found;
    const Work work = load(options, found);
    find_more(work, here, found);
    Exit exit = Exit::ok;
    for (const Problem& problem : found) {
        if (exit != Exit::plugin_refused) exit = problem.exit;
    }
    const std::size_t nodes = work.graph().size();
    const std::size_t placed = work.placement().size();
    if (options.json) {
        std::vector<Value> messages;
        for (const Problem& problem : found) messages.emplace_back(problem.message);
        std::vector<std::pair<std::string, Value>> out{{"ok", found.empty()},
                                                       {"nodes", static_cast<std::int64_t>(nodes)},
                                                       {"placed", static_cast<std::int64_t>(placed)},
                                                       {"problems", Value::list(std::move(messages))}};
        if (work.simulated != 0) out.emplace_back("simulated", simulated_list(work));
        write_out(to_json(Value::dict(std::move(out)), 2) + "\n");
        return exit;
    }
    for (const Problem& problem : found) report_error(problem.message);
    if (!found.empty()) {
        note_simulated(work);
        return exit;
    }
    std::string text = work.simulated != 0 ? simulated_header(work) + "\n" : "";
    text += fmt::format("ok: {} node{}, {} placed{}\n", nodes, nodes == 1 ? "" : "s", placed,
                        here ? ", every device is here" : "");
    write_out(text);
    return exit;
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "command.h"
#include "plugins.h"
#include "soma/wire.h"
#include "source.h"

namespace soma::cli {

/// What every command takes that is about a graph.
struct GraphOptions {
    std::string graph;
    PluginOptions plugins;
    std::vector<std::string> place;
    std::optional<std::string> placement;
    std::optional<std::string> simulate;
    bool json = false;

    void declare(Arguments& arguments);
};

/// What is wrong with a graph, apart from its grammar.
struct Problem {
    Exit exit;
    std::string message;
};

/// A graph with its plugins and where its nodes are to run.
struct Work {
    Source source;
    detail::Located located;
    Catalog catalog;
    unsigned simulated = 0;        ///< devices `cuda:0` … asked for with --simulate
    std::vector<std::size_t> told; ///< where the text has something wrong that was told when it was read

    [[nodiscard]] const Graph& graph() const noexcept { return located.wired.graph; }
    [[nodiscard]] const Placement& placement() const noexcept { return located.wired.placement; }
};

/// How many devices `--simulate` asks for; throws `UsageError`.
unsigned simulated_devices(const GraphOptions& options);

/// Reads graph, placement and plugins. Throws for what keeps it from being read; unknown types and wrong configurations
/// are `problems()`.
Work load(const GraphOptions& options, bool warn = true);
/// The same, with all that would be thrown, but for `UsageError`, and all of `problems()` put into `found` instead.
Work load(const GraphOptions& options, std::vector<Problem>& found);

/// Everything wrong with the nodes, in their order.
std::vector<Problem> problems(const Work& work);

/// Throws what `problems()` finds: `PluginError` when a plugin was refused that the graph needs, else `GraphError`.
void require_valid(const Work& work);

/// "cuda:0 (simulated)", "cuda:0", or "unplaced".
std::string device_label(const Work& work, std::string_view id);

/// "simulated devices: cuda:0, cuda:1", or empty.
std::string simulated_header(const Work& work);

/// Says on standard error which devices are simulated, if any: for output that has no other place to say so.
void note_simulated(const Work& work);
/// The simulated devices as a list for JSON.
Value simulated_list(const Work& work);

} // namespace soma::cli

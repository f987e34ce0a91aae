// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace soma::cli {

/// How the program ends. Part of its interface: scripts depend on the numbers.
enum class Exit : int {
    ok = 0,
    run_failed = 1,     ///< also: the output could not be written
    usage = 2,          ///< the command line is wrong
    not_valid = 3,      ///< the graph or the placement is
    plugin_refused = 4, ///< one that was named, or that the graph needs
    interrupted = 130,  ///< Ctrl-C
    terminated = 143,   ///< SIGTERM
};

/// What follows the command's name on the command line.
using Args = std::span<const char* const>;

/// One command of the program.
struct Command {
    std::string_view name;
    std::string_view about; ///< one line, for the overview
    Exit (*run)(Args args);
};

Exit run_command(Args args);
Exit plan_command(Args args);
Exit devices_command(Args args);
Exit draw_command(Args args);
Exit check_command(Args args);
Exit nodes_command(Args args);
Exit inspect_command(Args args);
Exit new_command(Args args);
Exit verify_command(Args args);

} // namespace soma::cli

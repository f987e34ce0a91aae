// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <exception>
#include <fmt/format.h>
#include <new>

#include "arguments.h"
#include "command.h"
#include "console.h"
#include "soma/abi.h"
#include "soma/error.h"
#include "soma/suggest.h"
#include "soma/version.h"
#include "source.h"
#include "table.h"

namespace soma::cli {

namespace {

constexpr std::array all_commands{
    Command{"run", "run a graph on an input", run_command},
    Command{"plan", "show when its nodes run", plan_command},
    Command{"devices", "show where its nodes run", devices_command},
    Command{"draw", "write it for Graphviz", draw_command},
    Command{"check", "check it without running it", check_command},
    Command{"nodes", "list the node types that plugins give", nodes_command},
    Command{"inspect", "say everything about a node type or a plugin", inspect_command},
    Command{"new", "write the project of a new plugin", new_command},
    Command{"verify", "check that a plugin keeps what it promises", verify_command},
};

std::string overview() {
    Table table;
    for (const Command& command : all_commands) table.row({std::string(command.name), std::string(command.about)});
    return fmt::format("Somatize runs graphs of plugin nodes, each where it is told.\n\n"
                       "Usage: somatize COMMAND ...\n\n"
                       "Commands:\n{}\n"
                       "`somatize COMMAND --help` says more; `somatize --version` says which this is.\n\n"
                       "Example:\n"
                       "  somatize run 'text.tokenize >> nn.encoder.on(\"cpu\")' --in 'some text'\n",
                       table.str("  "));
}

const Command* find_command(std::string_view name) {
    const auto found = std::find_if(all_commands.begin(), all_commands.end(),
                                    [name](const Command& command) { return command.name == name; });
    return found == all_commands.end() ? nullptr : &*found;
}

[[noreturn]] void unknown_command(const std::string& name) {
    if (name.starts_with('-')) {
        throw UsageError(fmt::format("there is no option `{}` before a command{}; options follow the command, as in "
                                     "`somatize run GRAPH {}`",
                                     name, did_you_mean(name, std::array<std::string, 2>{"--help", "--version"}),
                                     name));
    }
    std::vector<std::string> names;
    for (const Command& command : all_commands) names.emplace_back(command.name);
    throw UsageError(fmt::format("there is no command `{}`{}", name, did_you_mean(name, names)));
}

Exit dispatch(Args args) {
    if (args.empty()) {
        write_err(overview());
        return Exit::usage;
    }
    const std::string first = args.front();
    if (first == "--version" || first == "-V") {
        write_out(fmt::format("somatize {} (plugin ABI {}.{})\n", version(), SOMA_ABI_MAJOR, SOMA_ABI_MINOR));
        return Exit::ok;
    }
    if (first == "--help" || first == "-h" || (first == "help" && args.size() == 1)) {
        write_out(overview());
        return Exit::ok;
    }
    if (first == "help") {
        const Command* command = find_command(args[1]);
        if (command == nullptr) unknown_command(args[1]);
        const std::array help{"--help"};
        return command->run(help);
    }
    const Command* command = find_command(first);
    if (command == nullptr) unknown_command(first);
    return command->run(args.subspan(1));
}

Exit fail(Exit exit, const char* what) {
    report_error(what);
    return exit;
}

/// Runs the command and turns what it throws into an exit code: the one place where that is decided.
Exit run(Args args) {
    try {
        return dispatch(args);
    } catch (const UsageError& error) {
        const Exit exit = fail(Exit::usage, error.what());
        const bool known = !args.empty() && find_command(args.front()) != nullptr;
        write_err(known ? fmt::format("`somatize {} --help` shows how it is used\n", args.front())
                        : "`somatize --help` lists the commands\n");
        return exit;
    } catch (const PluginError& error) {
        return fail(Exit::plugin_refused, error.what());
    } catch (const GraphError& error) {
        return fail(Exit::not_valid, error.what());
    } catch (const PlacementError& error) {
        return fail(Exit::not_valid, error.what());
    } catch (const DeviceError& error) {
        return fail(Exit::not_valid, error.what());
    } catch (const SourceError& error) {
        return fail(Exit::not_valid, error.what());
    } catch (const std::bad_alloc&) {
        return fail(Exit::run_failed, "out of memory");
    } catch (const std::exception& error) {
        return fail(Exit::run_failed, error.what());
    }
}

} // namespace

} // namespace soma::cli

int main(int argc, char** argv) {
    soma::cli::prepare_console();
    const soma::cli::Exit exit =
        soma::cli::run({const_cast<const char* const*>(argv) + 1, static_cast<std::size_t>(std::max(argc - 1, 0))});
    soma::cli::allow_exit();
    return static_cast<int>(exit);
}

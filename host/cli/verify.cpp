// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>

#include "arguments.h"
#include "command.h"
#include "console.h"
#include "files.h"
#include "soma/catalog.h"
#include "soma/error.h"
#include "soma/json.h"
#include "table.h"
#include "verify/child.h"
#include "verify/plugin.h"

namespace soma::cli {

namespace fs = std::filesystem;

namespace {

using verify::Findings;
using verify::Row;
using verify::Verdict;

constexpr double default_limit = 60;
constexpr std::string_view suffix = ".soma.so";

/// The file of a plugin that is named by its file, or by the file's name in one of the folders. Nothing of it is loaded.
fs::path find_plugin(const std::string& name) {
    std::error_code error;
    if (name.find('/') != std::string::npos || name.ends_with(suffix)) {
        if (fs::exists(name, error)) return name;
        if (name.find('/') != std::string::npos) {
            throw UsageError(fmt::format("there is no file `{}`{}", name, nearest_file(name, {suffix})));
        }
    }
    const std::string file = name.ends_with(suffix) ? name : name + std::string(suffix);
    std::string nearest;
    for (const fs::path& folder : plugin_search_path({})) {
        if (fs::exists(folder / file, error)) return folder / file;
        if (nearest.empty()) nearest = nearest_file(folder / file, {suffix});
    }
    throw UsageError(fmt::format("there is no plugin `{}`{}: name its file, such as `build/{}`", name, nearest, file));
}

std::string counts(const Findings& findings) {
    return fmt::format("{} passed, {} failed, {} not checked", findings.count(Verdict::pass),
                       findings.count(Verdict::fail), findings.count(Verdict::not_checked));
}

std::string devices_text(const Findings& findings) {
    if (findings.engine.empty()) return "no tensor library";
    std::string text = findings.engine;
    if (!findings.devices.empty()) {
        text += fmt::format(", {}{}", findings.simulated ? "simulated " : "", fmt::join(findings.devices, ", "));
    }
    return text;
}

std::string table_of(const Findings& findings) {
    Table table({"node", "check", "result"});
    for (const Row& row : findings.rows) {
        const std::string& detail = row.outcome.detail;
        const std::string node = row.node.empty() ? "(plugin)" : row.node;
        std::string result(to_string(row.outcome.verdict));
        if (!detail.empty()) result += ": " + detail;
        table.row({node, row.check, std::move(result)});
    }
    const std::string name = findings.plugin.empty() ? "plugin" : findings.plugin + " " + findings.version;
    return fmt::format("{} ({})\n{}\n\n{}\n{}\n", name, findings.file, devices_text(findings), table.str(),
                       counts(findings));
}

std::string json_of(const Findings& findings) {
    std::vector<Value> rows;
    for (const Row& row : findings.rows) {
        std::string_view result = to_string(row.outcome.verdict);
        if (row.outcome.verdict == Verdict::fail) result = "fail";
        rows.push_back(Value::dict({{"node", row.node.empty() ? Value() : Value(row.node)},
                                    {"check", row.check},
                                    {"result", result},
                                    {"detail", row.outcome.detail}}));
    }
    std::vector<Value> devices(findings.devices.begin(), findings.devices.end());
    const Value all = Value::dict({{"plugin", findings.plugin},
                                   {"version", findings.version},
                                   {"file", findings.file},
                                   {"library", findings.engine},
                                   {"devices", Value::list(std::move(devices))},
                                   {"simulated", findings.simulated},
                                   {"ok", findings.count(Verdict::fail) == 0},
                                   {"passed", findings.count(Verdict::pass)},
                                   {"failed", findings.count(Verdict::fail)},
                                   {"not_checked", findings.count(Verdict::not_checked)},
                                   {"checks", Value::list(std::move(rows))}});
    return to_json(all, 2) + "\n";
}

} // namespace

Exit verify_command(Args args) {
    Arguments arguments("verify", "Checks that a plugin keeps what it promises, in a process of its own.",
                        "somatize verify build/hello.soma.so");
    std::string name;
    std::optional<std::string> timeout;
    bool json = false;
    arguments.positional("PLUGIN", "a plugin's file, or its file's name in a folder where plugins are looked for",
                         name);
    arguments.option("--timeout", "SECONDS", "how long one check may take; else 60", timeout);
    arguments.flag("--json", "print JSON, for programs", json);
    arguments.elsewhere("--simulate",
                        "it simulates `cuda:0` and `cuda:1` itself where the machine has no CUDA devices");
    if (!arguments.parse(args)) return Exit::ok;
    const double limit = timeout ? seconds(*timeout, "--timeout") : default_limit;

    Findings findings;
    findings.file = find_plugin(name).string();
    in_children(verify::verify_plugin, std::chrono::duration<double>(limit), findings);
    if (!findings.refusal.empty()) throw PluginError(findings.refusal);
    write_out(json ? json_of(findings) : table_of(findings));
    return findings.count(Verdict::fail) == 0 ? Exit::ok : Exit::run_failed;
}

} // namespace soma::cli

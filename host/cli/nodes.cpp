// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fnmatch.h>

#include "command.h"
#include "console.h"
#include "plugins.h"
#include "soma/json.h"
#include "soma/suggest.h"
#include "table.h"

namespace soma::cli {

namespace {

bool matches(const std::string& name, const std::string& pattern) {
    if (pattern.find_first_of("*?[") == std::string::npos) return name.find(pattern) != std::string::npos;
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

} // namespace

Exit nodes_command(Args args) {
    Arguments arguments("nodes", "Lists the node types that plugins give.", "somatize nodes 'nn.*'");
    std::optional<std::string> pattern;
    PluginOptions plugins;
    bool json = false;
    arguments.optional_positional("PATTERN", "a part of the name, or a pattern with * and ?", pattern);
    plugins.declare(arguments);
    arguments.flag("--json", "print JSON, for programs", json);
    arguments.elsewhere("--simulate", no_devices);
    if (!arguments.parse(args)) return Exit::ok;

    const Catalog catalog = load_plugins(plugins);
    warn_of_refusals(catalog);
    const std::vector<std::string> names = catalog.types();
    if (names.empty()) report_warning(nothing_found(plugins));

    Table table;
    std::vector<Value> list;
    for (const std::string& name : names) {
        if (pattern && !matches(name, *pattern)) continue;
        const auto type = catalog.get(name);
        const std::string about = type->doc.substr(0, type->doc.find('\n'));
        table.row({name, about});
        list.push_back(Value::dict(
            {{"name", name}, {"version", type->version}, {"plugin", type->plugin->name}, {"doc", type->doc}}));
    }
    if (pattern && list.empty() && !names.empty()) {
        throw UsageError(fmt::format("no node type matches `{}`{}", *pattern, did_you_mean(*pattern, names)));
    }
    write_out(json ? to_json(Value::list(std::move(list)), 2) + "\n" : table.str());
    leave(Exit::ok);
}

} // namespace soma::cli

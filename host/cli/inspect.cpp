// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.h"
#include "console.h"
#include "plugins.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/suggest.h"
#include "table.h"

namespace soma::cli {

namespace {

namespace fs = std::filesystem;

struct Flag {
    std::uint64_t bit;
    const char* name;
};
constexpr std::array flag_names{Flag{SOMA_NODE_REENTRANT, "re-entrant"},
                                Flag{SOMA_NODE_DIFFERENTIABLE, "differentiable"},
                                Flag{SOMA_NODE_NOT_SMOOTH, "not smooth"}, Flag{SOMA_NODE_RANDOM, "random"}};

std::string kind_name(const std::optional<Kind>& kind) { return kind ? std::string(to_string(*kind)) : "any"; }

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

std::vector<std::string> flags_of(const NodeType& type) {
    std::vector<std::string> out;
    for (const Flag& flag : flag_names) {
        if (type.has(flag.bit)) out.emplace_back(flag.name);
    }
    return out;
}

/// "int, 256 by default, from 1 to 65536": what a value must be.
std::string rule(const ConfigField& field) {
    std::vector<std::string> parts{kind_name(field.kind)};
    if (field.required) parts.emplace_back("required");
    if (field.default_value) parts.push_back(fmt::format("{} by default", to_json(*field.default_value)));
    if (!field.choices.empty()) {
        std::vector<std::string> choices;
        for (const Value& choice : field.choices) choices.push_back(to_json(choice));
        parts.push_back("one of " + fmt::format("{}", fmt::join(choices, " ")));
    }
    if (field.minimum && field.maximum) {
        parts.push_back(fmt::format("from {} to {}", *field.minimum, *field.maximum));
    } else if (field.minimum) {
        parts.push_back(fmt::format("at least {}", *field.minimum));
    } else if (field.maximum) {
        parts.push_back(fmt::format("at most {}", *field.maximum));
    }
    return joined(parts);
}

/// Name and value of each fact; a text of several lines is several lines under one name.
void fact(Table& table, const std::string& name, std::string_view value) {
    std::string label = name;
    while (!value.empty()) {
        const auto end = value.find('\n');
        table.row({label, std::string(value.substr(0, end))});
        label.clear();
        value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
    }
}

std::string section(std::string_view title, const Table& table) {
    return table.empty() ? "" : fmt::format("\n{}\n{}", title, table.str("  "));
}

Table ports(const std::vector<Port>& ports) {
    Table table;
    for (const Port& port : ports) table.row({port.name, kind_name(port.kind), port.doc});
    return table;
}

std::string describe(const NodeType& type) {
    Table facts;
    fact(facts, "Name", type.name);
    fact(facts, "About", type.doc);
    fact(facts, "Version", fmt::format("{}", type.version));
    fact(facts, "Flags", joined(flags_of(type)));
    fact(facts, "Plugin", fmt::format("{} {}", type.plugin->name, type.plugin->version));
    fact(facts, "File", type.plugin->path.string());
    fact(facts, "Example input", type.example_json);
    Table config;
    for (const ConfigField& field : type.config) config.row({field.name, rule(field), field.doc});
    return "Node type\n" + facts.str("  ") + section("Configuration", config) + section("Input", ports(type.inputs)) +
           section("Output", ports(type.outputs));
}

std::string describe(const Plugin& plugin, const Catalog& catalog) {
    Table facts;
    fact(facts, "Name", plugin.name);
    fact(facts, "About", plugin.doc);
    fact(facts, "Version", plugin.version);
    fact(facts, "Author", plugin.author);
    fact(facts, "License", plugin.license);
    fact(facts, "URL", plugin.url);
    fact(facts, "File", plugin.path.string());
    fact(facts, "ABI", fmt::format("{}.{}", plugin.abi_major, plugin.built_minor));
    fact(facts, "Needs host ABI", fmt::format("{}.{} or later", plugin.abi_major, plugin.min_host_minor));
    Table types;
    for (const std::string& name : plugin.types) {
        const std::string doc = catalog.get(name)->doc;
        types.row({name, doc.substr(0, doc.find('\n'))});
    }
    return "Plugin\n" + facts.str("  ") + section("Node types", types);
}

Value json_of(const std::vector<Port>& ports) {
    std::vector<Value> out;
    for (const Port& port : ports) {
        out.push_back(Value::dict({{"name", port.name}, {"kind", kind_name(port.kind)}, {"doc", port.doc}}));
    }
    return Value::list(std::move(out));
}

Value json_of(const ConfigField& field) {
    std::vector<std::pair<std::string, Value>> out{
        {"name", field.name}, {"kind", kind_name(field.kind)}, {"doc", field.doc}, {"required", field.required}};
    if (field.default_value) out.emplace_back("default", *field.default_value);
    if (!field.choices.empty()) out.emplace_back("choices", Value::list(field.choices));
    const auto bound = [&field](double number) {
        const bool whole = field.kind == Kind::integer && std::abs(number) < 0x1p63;
        return whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
    };
    if (field.minimum) out.emplace_back("minimum", bound(*field.minimum));
    if (field.maximum) out.emplace_back("maximum", bound(*field.maximum));
    return Value::dict(std::move(out));
}

Value json_of(const NodeType& type) {
    std::vector<Value> config;
    for (const ConfigField& field : type.config) config.push_back(json_of(field));
    std::vector<Value> flags;
    for (const std::string& flag : flags_of(type)) flags.emplace_back(flag);
    return Value::dict({{"node", type.name},
                        {"version", type.version},
                        {"doc", type.doc},
                        {"flags", Value::list(std::move(flags))},
                        {"plugin", type.plugin->name},
                        {"file", type.plugin->path.string()},
                        {"example", type.example_json.empty() ? Value() : parse_json(type.example_json)},
                        {"config", Value::list(std::move(config))},
                        {"inputs", json_of(type.inputs)},
                        {"outputs", json_of(type.outputs)}});
}

Value json_of(const Plugin& plugin) {
    std::vector<Value> types;
    for (const std::string& name : plugin.types) types.emplace_back(name);
    return Value::dict({{"plugin", plugin.name},
                        {"version", plugin.version},
                        {"doc", plugin.doc},
                        {"author", plugin.author},
                        {"license", plugin.license},
                        {"url", plugin.url},
                        {"file", plugin.path.string()},
                        {"abi_major", plugin.abi_major},
                        {"built_minor", plugin.built_minor},
                        {"min_host_minor", plugin.min_host_minor},
                        {"types", Value::list(std::move(types))}});
}

/// A path to a plugin: anything with a '/' in it, and a plugin file of this folder.
bool is_file(const std::string& name) {
    std::error_code error;
    return name.find('/') != std::string::npos || (name.ends_with(".soma.so") && fs::exists(name, error));
}

/// Not found under the name: refused, or not there at all.
[[noreturn]] void fail(const Catalog& catalog, const std::string& name) {
    if (const Refusal* refusal = catalog.refused_provider(name)) {
        warn_of_refusals(catalog, std::array{refusal});
        throw PluginError(fmt::format("there is no node type `{}`; `{}` would have given it but was refused: {}", name,
                                      refusal->path.string(), refusal->reason));
    }
    for (const Refusal& refusal : catalog.refusals()) {
        if (refusal.path.filename() == name + ".soma.so" || refusal.path.filename() == name) {
            warn_of_refusals(catalog, std::array{&refusal});
            throw PluginError(refusal_text(refusal));
        }
    }
    warn_of_refusals(catalog);
    std::vector<std::string> known = catalog.types();
    for (const auto& plugin : catalog.plugins()) known.push_back(plugin->name);
    throw UsageError(fmt::format("there is no plugin and no node type `{}`{}; `somatize nodes` lists them", name,
                                 did_you_mean(name, known)));
}

} // namespace

Exit inspect_command(Args args) {
    Arguments arguments("inspect", "Says everything about a node type or a plugin.", "somatize inspect nn.encoder");
    std::string name;
    PluginOptions plugins;
    bool json = false;
    arguments.positional("PLUGIN|NODE", "a node type, a plugin's name or a plugin's file", name);
    plugins.declare(arguments);
    arguments.flag("--json", "print JSON, for programs", json);
    arguments.elsewhere("--simulate", no_devices);
    if (!arguments.parse(args)) return Exit::ok;

    if (is_file(name)) {
        // Alone in a catalog: what else is installed cannot get in its way.
        Catalog catalog;
        const auto plugin = catalog.load_file(name);
        write_out(json ? to_json(json_of(*plugin), 2) + "\n" : describe(*plugin, catalog));
        leave(Exit::ok);
    }

    const Catalog catalog = load_plugins(plugins);
    if (const auto type = catalog.find(name)) {
        warn_of_refusals(catalog);
        write_out(json ? to_json(json_of(*type), 2) + "\n" : describe(*type));
        leave(Exit::ok);
    }
    const auto all = catalog.plugins();
    const auto plugin = std::find_if(all.begin(), all.end(), [&name](const auto& each) {
        return each->name == name || each->path.filename() == name;
    });
    if (plugin == all.end()) fail(catalog, name);
    warn_of_refusals(catalog);
    write_out(json ? to_json(json_of(**plugin), 2) + "\n" : describe(**plugin, catalog));
    leave(Exit::ok);
}

} // namespace soma::cli

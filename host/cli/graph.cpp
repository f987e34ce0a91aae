// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <system_error>

#include "console.h"
#include "files.h"
#include "soma/error.h"
#include "soma/json.h"

namespace soma::cli {

namespace {

// As many as libsomatize-simcuda makes.
constexpr std::uint64_t most_simulated = 64;

unsigned parse_simulate(std::string_view text) {
    constexpr std::string_view prefix = "cuda:";
    if (!text.starts_with(prefix)) {
        throw UsageError(
            fmt::format("--simulate wants how many devices of which kind, such as `cuda:4`, not `{}`", text));
    }
    return static_cast<unsigned>(
        whole_number(text.substr(prefix.size()), "the number after `--simulate cuda:`", 1, most_simulated));
}

/// Places by id: the graph must know the id, else the nearest is offered.
void place(Wired& wired, std::string_view id, const Device& device, std::string_view said) {
    try {
        (void)wired.graph.index(id);
    } catch (const GraphError& error) {
        throw PlacementError(fmt::format("{}: {}", said, error.what()));
    }
    wired.placement.place(id, device);
}

/// `--placement FILE`: {"id": "device", …}, or what `somatize devices --json` prints, where null is unplaced.
void place_from_file(Wired& wired, const std::string& file) {
    std::string text;
    try {
        text = read_file(file);
    } catch (const std::system_error& failure) {
        throw SourceError(fmt::format("{}{}", failure.what(), nearest_file(file, {".json"})));
    }
    try {
        const Value all = parse_json(text);
        const Value* devices = all.find("devices");
        if (devices == nullptr || devices->kind() != Kind::dict) {
            for (const auto& [id, device] : Placement::from_json(text)) place(wired, id, device, file);
            return;
        }
        for (std::size_t i = 0; i < devices->size(); ++i) {
            const std::string id(devices->key(i));
            if (devices->at(i).is_none()) continue;
            place(wired, id, Device::parse(devices->at(i).as_string()), file);
        }
    } catch (const PlacementError& error) {
        // Those of `place` begin with the file already.
        if (std::string_view(error.what()).starts_with(file)) throw;
        throw PlacementError(fmt::format("{}: {}", file, error.what()));
    } catch (const Error& error) {
        throw PlacementError(fmt::format("{}: {}", file, error.what()));
    }
}

void place_from_option(Wired& wired, const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw UsageError(fmt::format("--place wants ID=DEVICE, such as `encoder=cuda:0`, not `{}`", text));
    }
    const std::string said = fmt::format("--place {}", text);
    try {
        place(wired, std::string_view(text).substr(0, equals), Device::parse(std::string_view(text).substr(equals + 1)),
              said);
    } catch (const DeviceError& error) {
        throw PlacementError(fmt::format("{}: {}", said, error.what()));
    }
}

} // namespace

void GraphOptions::declare(Arguments& arguments) {
    arguments.positional("GRAPH", "a .soma file, a graph's .json file, or the expression itself", graph);
    arguments.repeated("--place", "ID=DEVICE", "run node ID on DEVICE, whatever the graph says", place);
    arguments.option("--placement", "FILE", "where nodes run, as JSON: {\"ID\": \"DEVICE\", ...}", placement);
    arguments.option("--simulate", "cuda:N", "pretend there are N CUDA devices, in this machine's memory", simulate);
    plugins.declare(arguments);
    arguments.flag("--json", "print JSON, for programs", json);
}

Work load(const GraphOptions& options, bool warn) {
    Work work;
    if (options.simulate) work.simulated = parse_simulate(*options.simulate);
    // Graph and placement first: they cost least, and what is wrong with them is no plugin's matter.
    work.source = Source::read(options.graph);
    work.wired = work.source.wired();
    if (options.placement) place_from_file(work.wired, *options.placement);
    for (const std::string& text : options.place) place_from_option(work.wired, text);
    work.catalog = load_plugins(options.plugins);
    if (warn) warn_of_refusals(work.catalog);
    return work;
}

std::vector<Problem> problems(const Work& work) {
    std::vector<Problem> out;
    for (const Node& node : work.wired.graph.nodes()) {
        try {
            const auto type = work.catalog.get(node.type);
            (void)type->checked_config(node.config, node.id);
        } catch (const GraphError& error) {
            const bool refused =
                work.catalog.find(node.type) == nullptr && work.catalog.refused_provider(node.type) != nullptr;
            out.push_back({refused ? Exit::plugin_refused : Exit::not_valid, error.what()});
        }
    }
    return out;
}

void require_valid(const Work& work) {
    const std::vector<Problem> found = problems(work);
    if (found.empty()) return;
    const auto refused = std::find_if(found.begin(), found.end(),
                                      [](const Problem& problem) { return problem.exit == Exit::plugin_refused; });
    if (refused != found.end()) throw PluginError(refused->message);
    // Read once more with the types known: an unknown one is then shown in its line.
    if (work.source.form == Source::Form::wire) (void)work.source.wired(work.catalog.types());
    std::string message = found.front().message;
    if (found.size() > 1) message += fmt::format(" (`somatize check` lists {} more)", found.size() - 1);
    throw GraphError(message);
}

std::string device_label(const Work& work, std::string_view id) {
    const auto device = work.wired.placement.of(id);
    if (!device) return "unplaced";
    const bool simulated =
        device->kind() == DeviceKind::cuda && static_cast<unsigned>(device->index()) < work.simulated;
    return device->str() + (simulated ? " (simulated)" : "");
}

std::string simulated_header(const Work& work) {
    std::string out;
    for (unsigned i = 0; i < work.simulated; ++i) {
        out += fmt::format("{}cuda:{}", i == 0 ? "simulated devices: " : ", ", i);
    }
    return out;
}

void note_simulated(const Work& work) {
    if (work.simulated != 0) write_err("somatize: " + simulated_header(work) + "\n");
}

Value simulated_list(const Work& work) {
    std::vector<Value> out;
    for (unsigned i = 0; i < work.simulated; ++i) out.emplace_back(fmt::format("cuda:{}", i));
    return Value::list(std::move(out));
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <utility>

#include "console.h"
#include "files.h"
#include "soma/detail/node_faults.h"
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

/// What is wrong is thrown, or put into a list.
class Faults {
public:
    explicit Faults(std::vector<Problem>* found) : found_(found) {}

    [[nodiscard]] bool are_listed() const noexcept { return found_ != nullptr; }

    /// Does `work`, and on with what comes after it if all is listed.
    template <class Work>
    void of(Work&& work) {
        try {
            work();
        } catch (const PluginError& error) {
            if (!are_listed()) throw;
            found_->push_back({Exit::plugin_refused, error.what()});
        } catch (const Error& error) {
            if (!are_listed()) throw;
            found_->push_back({Exit::not_valid, error.what()});
        } catch (const SourceError& error) {
            if (!are_listed()) throw;
            found_->push_back({Exit::not_valid, error.what()});
        }
    }

private:
    std::vector<Problem>* found_;
};

/// Places by id: the graph must know the id, else the nearest is offered.
void place(Wired& wired, std::string_view id, std::string_view device, std::string_view said) {
    try {
        (void)wired.graph.index(id);
        wired.placement.place(id, Device::parse(device));
    } catch (const Error& error) {
        throw PlacementError(fmt::format("{}: {}", said, error.what()));
    }
}

/// `--placement FILE`: {"id": "device", …}, or what `somatize devices --json` prints, where null is unplaced.
void place_from_file(Wired& wired, const std::string& file, Faults& faults) {
    std::string text;
    try {
        text = read_file(file);
    } catch (const std::runtime_error& failure) {
        throw SourceError(fmt::format("{}{}", failure.what(), nearest_file(file, {".json"})));
    }
    Value devices;
    bool all = false;
    try {
        devices = parse_json(text);
        const Value* inside = devices.find("devices");
        all = inside != nullptr && inside->kind() == Kind::dict;
        if (all) devices = Value(*inside);
        // An id alone, or none: it says itself what is wrong with the whole.
        if (devices.kind() != Kind::dict) (void)Placement::from_json(text);
    } catch (const Error& error) {
        throw PlacementError(fmt::format("{}: {}", file, error.what()));
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string id(devices.key(i));
        const Value& device = devices.at(i);
        if (all && device.is_none()) continue;
        const std::string said = fmt::format("{}: `{}`", file, id);
        faults.of([&] {
            if (device.kind() != Kind::string) {
                throw PlacementError(
                    fmt::format(R"({}: a device is a text such as "cuda:0", not {})", said, to_string(device.kind())));
            }
            place(wired, id, device.as_string(), said);
        });
    }
}

void place_from_option(Wired& wired, const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw UsageError(fmt::format("--place wants ID=DEVICE, such as `encoder=cuda:0`, not `{}`", text));
    }
    place(wired, std::string_view(text).substr(0, equals), std::string_view(text).substr(equals + 1),
          fmt::format("--place {}", text));
}

/// Refused files that would have given types of the graph: of these more is said than a warning.
std::vector<const Refusal*> refused_and_needed(const Work& work) {
    std::vector<const Refusal*> out;
    if (work.catalog.refusals().empty()) return out;
    for (const Node& node : work.graph().nodes()) {
        if (work.catalog.find(node.type) != nullptr) continue;
        if (const Refusal* refusal = work.catalog.refused_provider(node.type)) out.push_back(refusal);
    }
    return out;
}

Work load(const GraphOptions& options, bool warn, std::vector<Problem>* found) {
    Work work;
    Faults faults(found);
    work.simulated = simulated_devices(options);
    // Graph and placement first: they cost least, and what is wrong with them is no plugin's matter.
    bool read = false;
    faults.of([&] {
        work.source = Source::read(options.graph);
        std::vector<detail::WireFault> wrong;
        const auto tell = [&] {
            for (detail::WireFault& fault : wrong) {
                work.told.push_back(fault.offset);
                found->push_back({Exit::not_valid, std::move(fault.message)});
            }
        };
        try {
            work.located = work.source.located({}, found == nullptr ? nullptr : &wrong);
        } catch (const GraphError&) {
            tell();
            throw;
        }
        tell();
        read = work.source.form == Source::Form::json || work.graph().size() > 0;
    });
    // Of nodes nobody knows there is nothing to say.
    Wired& wired = work.located.wired;
    if (read && options.placement) faults.of([&] { place_from_file(wired, *options.placement, faults); });
    for (const std::string& text : options.place) {
        if (read) faults.of([&] { place_from_option(wired, text); });
    }
    std::vector<std::string> refused;
    work.catalog = load_plugins(options.plugins, found == nullptr ? nullptr : &refused);
    for (std::string& text : refused) found->push_back({Exit::plugin_refused, std::move(text)});
    if (warn) warn_of_refusals(work.catalog, refused_and_needed(work));
    return work;
}

/// Of what is wrong with the wire text, by where it is; with the types known, so that a name that is none is told in the
/// language's words.
std::map<std::size_t, std::string> faults_of_text(const Work& work) {
    std::map<std::size_t, std::string> out;
    if (work.source.form == Source::Form::json) return out;
    std::vector<detail::WireFault> wrong;
    (void)work.source.located(work.catalog.types(), &wrong);
    for (detail::WireFault& fault : wrong) out.try_emplace(fault.offset, std::move(fault.message));
    return out;
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

unsigned simulated_devices(const GraphOptions& options) {
    return options.simulate ? parse_simulate(*options.simulate) : 0;
}

Work load(const GraphOptions& options, bool warn) { return load(options, warn, nullptr); }

Work load(const GraphOptions& options, std::vector<Problem>& found) {
    Work work = load(options, true, &found);
    for (Problem& problem : problems(work)) found.push_back(std::move(problem));
    return work;
}

std::vector<Problem> problems(const Work& work) {
    std::vector<Problem> out;
    std::optional<std::map<std::size_t, std::string>> in_text;
    for (Graph::Index i = 0; i < work.graph().size(); ++i) {
        const Node& node = work.graph().nodes()[i];
        if (const auto type = work.catalog.find(node.type)) {
            for (const std::string& fault : detail::node_faults(node, *type)) {
                out.push_back({Exit::not_valid, work.source.at(work.located, i, fault)});
            }
            continue;
        }
        const std::size_t offset = i < work.located.offsets.size() ? work.located.offsets[i] : std::string::npos;
        if (std::find(work.told.begin(), work.told.end(), offset) != work.told.end()) continue;
        try {
            (void)work.catalog.get(node.type);
        } catch (const GraphError& error) {
            const bool refused = work.catalog.refused_provider(node.type) != nullptr;
            std::string message = work.source.at(work.located, i, error.what());
            if (!refused) {
                if (!in_text) in_text = faults_of_text(work);
                const auto better = in_text->find(offset);
                if (better != in_text->end()) message = better->second;
            }
            out.push_back({refused ? Exit::plugin_refused : Exit::not_valid, std::move(message)});
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
    std::string message = found.front().message;
    if (found.size() > 1) {
        // The line that the text is shown in comes after.
        message.insert(std::min(message.find('\n'), message.size()),
                       fmt::format(" (`somatize check` lists {} more)", found.size() - 1));
    }
    throw GraphError(message);
}

std::string device_label(const Work& work, std::string_view id) {
    const auto device = work.placement().of(id);
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

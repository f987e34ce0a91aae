// SPDX-License-Identifier: Apache-2.0
#include "verify/subject.h"

#include <fmt/format.h>

#include "soma/error.h"
#include "soma/json.h"
#include "verify/tensors.h"

namespace soma::cli::verify {

namespace {

std::string shown(const Value& config) { return config.size() == 0 ? "its defaults" : to_json(config); }

} // namespace

std::string placed_text(const std::optional<Device>& device) {
    return device ? fmt::format("on `{}`", device->str()) : std::string("unplaced");
}

Subject::Subject(const Catalog& catalog, std::shared_ptr<const NodeType> type, const Machine& machine, Reporter& report)
    : catalog_(catalog), type_(std::move(type)), machine_(machine), report_(report),
      id_(type_->name.substr(type_->name.rfind('.') + 1)) {
    if (const auto known = findings().config(type_->name)) config_ = *known;
}

void Subject::set_config(Value config) {
    config_ = std::move(config);
    report_.config(type_->name, config_);
}

Value Subject::input() const {
    if (!input_) throw ValueError("there is nothing to run it on");
    return input_->make();
}

void Subject::create(const Value& config, std::optional<Device> device, const std::string& what) const {
    step(fmt::format("creating it with {}", what.empty() ? shown(config) : what));
    (void)Instance::create(type_, id_, config, device, 0);
}

Pipeline Subject::pipeline(const Value& config, std::optional<Device> device) const {
    step(fmt::format("creating it with {}", shown(config)));
    Graph graph;
    graph.add(type_->name, config, id_);
    Placement placement;
    if (device) placement.place(id_, *device);
    return Pipeline(std::move(graph), catalog_, std::move(placement), {.jobs = 1, .seed = 0});
}

Pipeline Subject::pipeline(std::optional<Device> device) const { return pipeline(config_, device); }

Value Subject::run(Pipeline& pipeline) const { return run(pipeline, input()); }

Value Subject::run(Pipeline& pipeline, const Value& input, std::uint64_t seed) const {
    const std::optional<Device> device = pipeline.placement().of(id_);
    step(fmt::format("running it {}", placed_text(device)));
    try {
        return run_once(pipeline, input, seed);
    } catch (const Misplaced&) {
        if (!returns_input_) throw;
    }
    return run_once(pipeline, moved_to(input, *device), seed);
}

Value Subject::run_once(Pipeline& pipeline, const Value& input, std::uint64_t seed) const {
    RunOptions options;
    options.seed = seed;
    try {
        return pipeline.run(input, options);
    } catch (const NodeError& error) {
        const std::string_view message = error.what();
        const bool misplaced = message.find("it declared `") != std::string_view::npos &&
                               message.find("` but returned a value on `") != std::string_view::npos;
        if (misplaced) throw Misplaced(error.what());
        throw;
    }
}

void Subject::place(Pipeline& pipeline, const Device& device) const {
    step(fmt::format("moving it to `{}`", device.str()));
    pipeline.place(id_, device);
}

bool Subject::passed(std::string_view check) const {
    const Outcome* outcome = findings().find(type_->name, check);
    return outcome != nullptr && outcome->verdict == Verdict::pass;
}

} // namespace soma::cli::verify

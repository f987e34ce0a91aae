// SPDX-License-Identifier: Apache-2.0
#include "soma/pipeline.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "plugin/config_check.h"
#include "soma/detail/located.h"
#include "soma/error.h"
#include "soma/machine.h"
#include "soma/suggest.h"

namespace soma {
namespace {

/// Where to create a node: where it is placed, if that is here. A graph may be built on a machine that lacks its devices;
/// the first run names what is missing, and a node is told of its place then.
std::optional<Device> birthplace(const std::optional<Device>& placed) {
    if (!placed || placed->kind() == DeviceKind::cpu || placed->kind() == DeviceKind::meta) return placed;
    try {
        const auto here = visible_devices(placed->kind());
        return std::find(here.begin(), here.end(), *placed) == here.end() ? std::nullopt : placed;
    } catch (const EngineError&) {
        return std::nullopt;
    }
}

/// Nodes are checked one by one, but most have a type that another had, and many of these say nothing of its configuration.
class Checks {
public:
    explicit Checks(const Catalog& catalog) : catalog_(catalog) {}

    struct Checked {
        const std::shared_ptr<const NodeType>* type;
        const Value* config;
    };
    /// Valid as long as the checks are.
    Checked check(const Node& node) {
        if (last_ == nullptr || last_->type->name != node.type) last_ = &known(node.type);
        const NodeType& type = *last_->type;
        if (node.type_version > type.version) throw GraphError(*detail::too_old(node, type));
        if (!node.config.is_none())
            return {&last_->type, &given_.emplace_back(type.checked_config(node.config, node.id))};
        if (!last_->defaults) last_->defaults = type.checked_config({}, node.id);
        return {&last_->type, &*last_->defaults};
    }

private:
    struct Known {
        std::shared_ptr<const NodeType> type;
        std::optional<Value> defaults;
    };

    Known& known(std::string_view type) {
        const auto found = known_.find(type);
        if (found != known_.end()) return found->second;
        auto got = catalog_.get(type);
        const std::string_view name = got->name;
        return known_.emplace(name, Known{std::move(got), std::nullopt}).first->second;
    }

    const Catalog& catalog_;
    std::unordered_map<std::string_view, Known> known_; // its elements stay where they are
    std::deque<Value> given_;                           // likewise
    Known* last_ = nullptr;
};

std::vector<std::shared_ptr<Instance>> instantiate(const Graph& graph, const Catalog& catalog,
                                                   const Placement& placement, std::uint64_t seed) {
    // Every type and configuration is checked before anything is created: a wrong graph costs nothing.
    Checks checks(catalog);
    std::vector<Checks::Checked> checked;
    checked.reserve(graph.size());
    for (const Node& node : graph.nodes()) checked.push_back(checks.check(node));
    std::vector<std::shared_ptr<Instance>> instances;
    instances.reserve(graph.size());
    for (std::size_t i = 0; i < checked.size(); ++i) {
        const std::string& id = graph.nodes()[i].id;
        const auto device = placement.empty() ? std::nullopt : birthplace(placement.of(id));
        instances.push_back(Instance::create(*checked[i].type, id, *checked[i].config, device, seed));
    }
    return instances;
}

} // namespace

struct Pipeline::Impl {
    Impl(Graph g, const Catalog& c, const Placement& placement, const PipelineOptions& options)
        : catalog(c), graph(std::move(g)),
          executor(compile(graph), instantiate(graph, catalog, checked(graph, placement), options.seed), placement,
                   thread_driver(options.jobs)) {
        say_versions();
    }

    static const Placement& checked(const Graph& graph, const Placement& placement) {
        for (const auto& [id, device] : placement) require(graph, id);
        return placement;
    }

    static void require(const Graph& graph, std::string_view id) {
        if (graph.find(id)) return;
        std::vector<std::string> ids;
        for (const Node& node : graph.nodes()) ids.push_back(node.id);
        throw PlacementError(fmt::format("no node `{}` to be placed{}", id, did_you_mean(id, ids)));
    }

    // A graph that is kept says which versions of its types it was run with.
    void say_versions() {
        const auto instances = executor.instances();
        for (std::size_t i = 0; i < graph.size(); ++i) {
            if (graph.nodes()[i].type_version != 0) continue;
            graph.set_type_version(static_cast<Graph::Index>(i), instances[i]->type().version);
        }
    }

    [[nodiscard]] std::vector<State> state(bool parameters_only) const {
        std::vector<State> all;
        for (const auto& instance : executor.instances()) {
            for (State& state : instance->state()) {
                if (parameters_only && !state.parameter) continue;
                state.name = instance->id() + '.' + state.name;
                all.push_back(std::move(state));
            }
        }
        return all;
    }

    Catalog catalog;
    Graph graph;
    Executor executor;
    bool training = false;
};

Pipeline::Pipeline(Graph graph, const Catalog& catalog, Placement placement, const PipelineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(graph), catalog, placement, options)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

Value Pipeline::run(const Value& input, const RunOptions& options) {
    if (!impl_->training || options.training) return impl_->executor.run(input, options);
    RunOptions training = options;
    training.training = true;
    return impl_->executor.run(input, training);
}
void Pipeline::run_many(const std::function<std::optional<Value>()>& next, const std::function<void(ItemResult)>& done,
                        const ManyOptions& options) {
    ManyOptions many = options;
    many.run.training = many.run.training || impl_->training;
    impl_->executor.run_many(next, done, many);
}
void Pipeline::cancel() noexcept { impl_->executor.cancel(); }
std::vector<std::string> Pipeline::failures() const { return impl_->executor.failures(); }

void Pipeline::place(std::string_view id, std::string_view device) { place(id, Device::parse(device)); }
void Pipeline::place(std::string_view id, Device device) {
    Impl::require(impl_->graph, id);
    Placement placement = impl_->executor.placement();
    placement.place(id, device);
    impl_->executor.place(std::move(placement));
}
void Pipeline::unplace(std::string_view id) {
    Impl::require(impl_->graph, id);
    Placement placement = impl_->executor.placement();
    placement.unplace(id);
    impl_->executor.place(std::move(placement));
}

std::map<std::string, std::string> Pipeline::devices() const {
    std::map<std::string, std::string> devices;
    for (const auto& [id, device] : impl_->executor.placement()) devices.emplace(id, device.str());
    return devices;
}
const Placement& Pipeline::placement() const noexcept { return impl_->executor.placement(); }
const Graph& Pipeline::graph() const noexcept { return impl_->graph; }
const Plan& Pipeline::plan() const noexcept { return impl_->executor.plan(); }

std::vector<std::string> Pipeline::nodes() const {
    std::vector<std::string> ids;
    for (const Node& node : impl_->graph.nodes()) ids.push_back(node.id);
    return ids;
}
Instance& Pipeline::instance(std::string_view id) const { return *impl_->executor.instances()[impl_->graph.index(id)]; }

std::vector<State> Pipeline::parameters() const { return impl_->state(true); }
std::vector<State> Pipeline::state() const { return impl_->state(false); }
void Pipeline::train(bool on) noexcept { impl_->training = on; }

Pipeline somatize(const Wire& wire, const Catalog& catalog, const PipelineOptions& options) {
    Wired wired = build(wire);
    return {std::move(wired.graph), catalog, std::move(wired.placement), options};
}

Pipeline somatize(std::string_view text, const Catalog& catalog, const PipelineOptions& options) {
    const std::vector<std::string> types = catalog.types();
    Wired wired = detail::read_wire(text, {}, types).wired;
    return {std::move(wired.graph), catalog, std::move(wired.placement), options};
}

} // namespace soma

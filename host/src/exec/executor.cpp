// SPDX-License-Identifier: Apache-2.0
#include "soma/executor.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "bound_node.h"
#include "program.h"
#include "run.h"
#include "run_many.h"
#include "soma/detail/engine.h"
#include "soma/detail/status.h"
#include "soma/error.h"
#include "soma/machine.h"
#include "soma/plugin.h"
#include "soma/suggest.h"

namespace soma {
namespace {

/// FNV-1a (Fowler, Noll, Vo): a node's seed depends on its id, not on its position.
std::uint64_t hash(std::string_view text) noexcept {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h;
}

bool on_meta(const std::optional<Device>& device) { return device && device->kind() == DeviceKind::meta; }

std::uint64_t next_run_id() noexcept {
    static std::atomic<std::uint64_t> runs{0};
    return runs.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// A fresh instance of the same node whose state holds no data.
std::shared_ptr<Instance> meta_instance(const Instance& original, const std::shared_ptr<const NodeType>& type) {
    const Device meta(DeviceKind::meta);
    auto fresh = Instance::create(type, original.id(), original.config(), meta, original.seed());
    const detail::Engine& engine = detail::require_engine();
    for (const State& state : fresh->state()) {
        if (engine.place(SOMA_KIND_TENSOR, state.value.handle()->payload).kind == SOMA_DEVICE_META) continue;
        soma_value* out = nullptr;
        if (soma_status* status = engine.to_meta(state.value.handle(), &out)) {
            const std::string why = detail::full_message(status);
            detail::release_status(status);
            throw NodeError(original.id(), type->plugin->name,
                            fmt::format("node `{}` cannot run on `meta`: {}", original.id(), why));
        }
        fresh->set_state(state.name, Value::adopt(out));
    }
    return fresh;
}

} // namespace

struct Executor::Impl {
    Impl(Plan p, std::vector<std::shared_ptr<Instance>> i, Placement where, std::shared_ptr<Driver> d)
        : plan(std::move(p)), program(plan), instances(std::move(i)), placement(std::move(where)),
          driver(std::move(d)) {
        if (instances.size() != plan.nodes.size()) {
            throw GraphError(
                fmt::format("the plan has {} nodes, but {} instances are bound", plan.nodes.size(), instances.size()));
        }
        for (const auto& [id, device] : placement) require_id<PlacementError>(id, "placed");
    }

    template <class E>
    void require_id(const std::string& id, std::string_view what) const {
        // Made when first asked for, which may be by several runs at once.
        std::call_once(by_id_made, [this] {
            for (const auto& instance : instances) by_id.emplace(instance->id());
        });
        if (by_id.contains(id)) return;
        throw E(fmt::format("no node `{}` to be {}{}", id, what, did_you_mean(id, plan.nodes)));
    }

    static exec::BoundNode bound(std::shared_ptr<Instance> instance, std::optional<Device> device) {
        const NodeType& type = instance->type();
        exec::BoundNode node;
        node.instance = std::move(instance);
        node.seed_salt = hash(node.instance->id());
        node.forward = type.functions.forward;
        node.self = node.instance->self();
        node.reentrant = type.has(SOMA_NODE_REENTRANT);
        node.links_engine = type.plugin->links_tensor_library;
        node.has_backward = type.functions.backward != nullptr;
        if (!device) return node;
        node.device = device;
        node.device_text = device->str();
        node.placed = true;
        node.place = device->place();
        node.has_stream = device->kind() != DeviceKind::cpu && device->kind() != DeviceKind::meta;
        return node;
    }

    void bind(std::size_t index, const std::shared_ptr<Instance>& instance, std::optional<Device> device) {
        nodes[index] = bound(instance, device);
    }

    /// Before the first run, and the first after a change: checks the machine, then moves what was placed anew.
    void prepare() {
        const std::lock_guard guard(mutex);
        if (ready) return;
        preflight(placement);
        check_shared_state();
        if (nodes.empty()) { // only now, so that a pipeline that is not run costs less
            std::vector<exec::BoundNode> all;
            all.reserve(instances.size());
            for (const auto& instance : instances) all.push_back(bound(instance, placement.of(instance->id())));
            nodes = std::move(all);
        }
        for (std::size_t n = 0; n < nodes.size(); ++n) settle(n);
        settled = true;
        idle.clear(); // their contexts speak of the old places
        ready = true;
    }

    void settle(std::size_t index) {
        const std::shared_ptr<Instance>& original = instances[index];
        const std::optional<Device> device = placement.of(original->id());
        exec::BoundNode& node = nodes[index];
        if (on_meta(device)) {
            if (!on_meta(node.device) || !settled) {
                const bool born_there = !settled && all_on_meta(*original);
                bind(index, born_there ? original : meta_instance(*original, type_of(original)), device);
            }
            return;
        }
        const bool changed = node.device != device || original->device() != device;
        if ((changed || !settled) && has_state_on_meta(*original)) {
            throw PlacementError(fmt::format("node `{}` cannot move from `meta` to {}: its parameters hold no data "
                                             "there. Create the pipeline with the node placed elsewhere, and place it "
                                             "on `meta` afterwards",
                                             original->id(), device ? '`' + device->str() + '`' : "anywhere else"));
        }
        if (changed) {
            original->moved(device);
            bind(index, original, device);
        }
    }

    /// Keeps the instance with its type: what came out of the new one may outlive this executor.
    [[nodiscard]] static std::shared_ptr<const NodeType> type_of(const std::shared_ptr<Instance>& instance) {
        return {instance, &instance->type()};
    }

    template <class Predicate>
    [[nodiscard]] static std::size_t count_state(const Instance& instance, Predicate predicate) {
        if (instance.type().functions.state_count == nullptr) return 0;
        const auto state = instance.state();
        return static_cast<std::size_t>(std::count_if(state.begin(), state.end(), predicate));
    }
    [[nodiscard]] static bool is_meta(const State& state) {
        return state.value.kind() == Kind::tensor &&
               exec::place_of_tensor(state.value.handle()).kind == SOMA_DEVICE_META;
    }
    [[nodiscard]] static bool has_state_on_meta(const Instance& instance) { return count_state(instance, is_meta) > 0; }
    [[nodiscard]] static bool all_on_meta(const Instance& instance) {
        return count_state(instance, [](const State& state) { return !is_meta(state); }) == 0;
    }

    /// A tensor that two nodes hold can only be in one place.
    void check_shared_state() const {
        const detail::Engine* engine = detail::engine();
        if (engine == nullptr || placement.empty()) return;
        struct Holder {
            const Instance* instance;
            std::string name;
        };
        std::map<std::uint64_t, Holder> holders;
        for (const auto& instance : instances) {
            // A node that is unplaced goes where its input is; only two words against each other are wrong.
            const auto here = placement.of(instance->id());
            if (!here || instance->type().functions.state_count == nullptr) continue;
            for (const State& state : instance->state()) {
                const std::uint64_t storage =
                    state.value.kind() == Kind::tensor ? engine->storage_id(state.value.handle()->payload) : 0;
                if (storage == 0) continue;
                const auto [at, first] = holders.try_emplace(storage, Holder{instance.get(), state.name});
                if (first || at->second.instance == instance.get()) continue;
                const auto there = placement.of(at->second.instance->id());
                if (here == there) continue;
                throw PlacementError(fmt::format(
                    "nodes `{}` and `{}` share a parameter (`{}` and `{}`) but are placed on two devices, `{}` and "
                    "`{}`. Place them on the same device",
                    at->second.instance->id(), instance->id(), at->second.name, state.name, there->str(), here->str()));
            }
        }
    }

    std::unique_ptr<exec::Run> borrow() {
        const std::lock_guard guard(mutex);
        std::unique_ptr<exec::Run> run;
        if (idle.empty()) {
            run = std::make_unique<exec::Run>(program, nodes, *driver);
        } else {
            run = std::move(idle.back());
            idle.pop_back();
        }
        run->stop(exec::running);
        under_way.push_back(run.get());
        return run;
    }

    void give_back(std::unique_ptr<exec::Run> run) {
        const std::lock_guard guard(mutex);
        under_way.erase(std::find(under_way.begin(), under_way.end(), run.get()));
        idle.push_back(std::move(run));
    }

    void remember(const std::vector<exec::Failure>& failures) {
        if (failures.empty() && !any_failures.load(std::memory_order_relaxed)) return;
        const std::lock_guard guard(mutex);
        auto& texts = failed[std::this_thread::get_id()];
        texts.clear();
        for (const exec::Failure& failure : failures) texts.push_back(failure.message);
        if (texts.empty()) failed.erase(std::this_thread::get_id());
        any_failures.store(!failed.empty(), std::memory_order_relaxed);
    }

    Plan plan;
    exec::Program program;
    std::vector<std::shared_ptr<Instance>> instances;
    Placement placement;
    std::shared_ptr<Driver> driver;
    std::vector<exec::BoundNode> nodes;
    mutable std::once_flag by_id_made;
    mutable std::unordered_set<std::string> by_id;

    mutable std::mutex mutex; ///< guards what follows
    std::atomic<bool> ready{false};
    bool settled = false; ///< the instances were told their places once
    std::vector<std::unique_ptr<exec::Run>> idle;
    std::vector<exec::Run*> under_way;
    std::unordered_map<std::thread::id, std::vector<std::string>> failed;
    std::atomic<bool> any_failures{false};
    exec::Helpers helpers; ///< last, as they may still run items
};

Executor::Executor(Plan plan, std::vector<std::shared_ptr<Instance>> instances, Placement placement,
                   std::shared_ptr<Driver> driver)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(instances), std::move(placement), std::move(driver))) {}
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

Value Executor::run(const Value& input, const RunOptions& options) {
    Impl& impl = *impl_;
    for (const std::string& id : options.keep) impl.require_id<GraphError>(id, "kept");
    if (options.report != nullptr) {
        options.report->assign(impl.instances.size(), {});
        for (std::size_t n = 0; n < impl.instances.size(); ++n) {
            (*options.report)[n].node = impl.plan.nodes[n];
            (*options.report)[n].device = impl.placement.of(impl.plan.nodes[n]);
        }
    }
    if (!impl.ready.load(std::memory_order_acquire)) impl.prepare();

    auto run = impl.borrow();
    Value result = run->execute(input, options, next_run_id());
    const std::vector<exec::Failure> failures = std::move(run->failures());
    impl.give_back(std::move(run));
    impl.remember(failures);
    if (failures.empty()) return result;
    const exec::Failure& first = failures.front();
    if (first.cancelled) throw CancelledError(first.message);
    throw NodeError(impl.plan.nodes[first.node], impl.instances[first.node]->type().plugin->name, first.message);
}

void Executor::run_many(const std::function<std::optional<Value>()>& next, const std::function<void(ItemResult)>& done,
                        const ManyOptions& options) {
    exec::run_many(*this, impl_->helpers, next, done, options);
}

void Executor::cancel() noexcept {
    const std::lock_guard guard(impl_->mutex);
    for (exec::Run* run : impl_->under_way) run->stop(exec::cancelled);
}

std::vector<std::string> Executor::failures() const {
    const std::lock_guard guard(impl_->mutex);
    const auto at = impl_->failed.find(std::this_thread::get_id());
    return at == impl_->failed.end() ? std::vector<std::string>() : at->second;
}

void Executor::place(Placement placement) {
    for (const auto& [id, device] : placement) impl_->require_id<PlacementError>(id, "placed");
    const std::lock_guard guard(impl_->mutex);
    impl_->placement = std::move(placement);
    impl_->ready = false;
}

const Plan& Executor::plan() const noexcept { return impl_->plan; }
const Placement& Executor::placement() const noexcept { return impl_->placement; }
std::span<const std::shared_ptr<Instance>> Executor::instances() const noexcept { return impl_->instances; }

} // namespace soma

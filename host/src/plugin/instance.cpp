// SPDX-License-Identifier: Apache-2.0
#include "soma/instance.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/quote.h"
#include "core/status_guard.h"
#include "core/utf8.h"
#include "plugin/api_check.h"
#include "plugin/loaded_plugin.h"
#include "soma/log.h"
#include "soma/plugin.h"
#include "soma/suggest.h"

namespace soma {

namespace {

// Nobody gives a node more tensors than this; a greater count is not a count.
constexpr std::uint32_t most_state = 1u << 20;

// The seed of a node's weights: other for every id, the same for the same id and seed on every machine.
std::uint64_t seed_of(std::uint64_t seed, std::string_view id) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u ^ seed;
    for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    return hash ^ hash >> 31;
}

// Calls a function of the plugin; what it throws becomes a status.
template <class Call>
soma_status* guarded(const Plugin& plugin, Call&& call) noexcept {
    try {
        return call();
    } catch (...) {
        return detail::status_from_exception(plugin.name);
    }
}

[[noreturn]] void fail(const Instance& instance, std::string_view what) {
    const std::string& plugin = instance.type().plugin->name;
    throw NodeError(instance.id(), plugin, fmt::format("node `{}` {} (plugin `{}`)", instance.id(), what, plugin));
}

// Throws for a failure of the plugin's; takes it over.
void check(const Instance& instance, soma_status* status, std::string_view doing) {
    if (status == nullptr) return;
    const detail::StatusGuard failure(status);
    fail(instance, fmt::format("{}: {}", doing, detail::full_message(status)));
}

} // namespace

Instance::Instance(std::shared_ptr<const NodeType> type, std::string id, Value config, std::uint64_t seed)
    : type_(std::move(type)), id_(std::move(id)), config_(std::move(config)), seed_(seed) {}

std::shared_ptr<Instance> Instance::create(std::shared_ptr<const NodeType> type, std::string id, const Value& config,
                                           std::optional<Device> device, std::uint64_t seed) {
    Value checked = type->checked_config(config, id);
    struct Made : Instance {
        Made(std::shared_ptr<const NodeType> t, std::string i, Value c, std::uint64_t s)
            : Instance(std::move(t), std::move(i), std::move(c), s) {}
    };
    const std::shared_ptr<Instance> instance =
        std::make_shared<Made>(std::move(type), std::move(id), std::move(checked), seed);
    const NodeType& made_of = instance->type();
    const std::string device_text = device ? device->str() : std::string();

    soma_create_info info{};
    info.struct_size = sizeof info;
    info.node_id = {instance->id_.c_str(), instance->id_.size()};
    info.config = instance->config_.handle();
    info.device = device ? device_text.c_str() : nullptr;
    info.place = device ? device->place() : soma_place{SOMA_DEVICE_NONE, 0};
    info.seed = seed_of(seed, instance->id_);
    info.type_data = made_of.functions.type_data;
    void* self = nullptr;
    check(*instance,
          guarded(*made_of.plugin, [&] { return made_of.functions.create(made_of.plugin->host(), &info, &self); }),
          "could not be created");
    if (self == nullptr) {
        fail(*instance, fmt::format("could not be created: `create` of `{}` succeeded but gave no instance; set *self",
                                    made_of.name));
    }
    instance->self_ = self;
    instance->device_ = device;
    return instance;
}

Instance::~Instance() {
    if (self_ != nullptr) {
        try {
            type_->functions.destroy(self_);
        } catch (...) {
            log(LogLevel::error, type_->plugin->name, id_, "`destroy` threw, which no plugin function may");
        }
    }
    config_ = Value();
    type_.reset();
    detail::unload_deferred();
}

std::vector<State> Instance::state() const {
    std::vector<State> all;
    const soma_node_type& functions = type_->functions;
    if (functions.state_count == nullptr) return all;
    std::uint32_t count = 0;
    check(*this,
          guarded(*type_->plugin,
                  [&]() -> soma_status* {
                      count = functions.state_count(self_);
                      return nullptr;
                  }),
          "could not say how many tensors it holds");
    if (count > most_state)
        fail(*this, fmt::format("says that it holds {} tensors, expected at most {}", count, most_state));
    all.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        soma_state raw{};
        raw.struct_size = sizeof raw;
        check(*this, guarded(*type_->plugin, [&] { return functions.state_at(self_, i, &raw); }),
              fmt::format("could not give its tensor {}", i));
        if (!detail::api::is_readable(raw.name) || raw.name.size == 0) {
            fail(*this, fmt::format("gave its tensor {} no name", i));
        }
        const std::string_view name = detail::api::view(raw.name);
        if (!detail::is_utf8(name)) {
            fail(*this, fmt::format("gave its tensor {} a name that is {}", i, detail::describe_utf8_error(name)));
        }
        if (!detail::api::is_handle(raw.value) || raw.value->kind != SOMA_KIND_TENSOR) {
            fail(*this, fmt::format("gave for its state `{}` {}, expected a tensor", name,
                                    raw.value == nullptr                 ? "nothing"
                                    : !detail::api::is_handle(raw.value) ? "a value that was released already"
                                                                         : to_string(Kind{raw.value->kind})));
        }
        if (raw.role != SOMA_STATE_PARAMETER && raw.role != SOMA_STATE_BUFFER) {
            fail(*this, fmt::format("gave its state `{}` the role {}, expected SOMA_STATE_PARAMETER or "
                                    "SOMA_STATE_BUFFER",
                                    name, raw.role));
        }
        all.push_back(
            {std::string(name), Value::share(raw.value), raw.role == SOMA_STATE_PARAMETER, raw.persistent != 0});
    }
    return all;
}

void Instance::set_state(std::string_view name, const Value& value) {
    std::vector<std::string> names;
    for (const State& state : this->state()) names.push_back(state.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        fail(*this, fmt::format("has no state {}{}", detail::quoted(name), did_you_mean(name, names)));
    }
    const soma_node_type& functions = type_->functions;
    if (functions.state_set == nullptr) {
        fail(*this, fmt::format("has state that cannot be set: `{}` has no `state_set`", type_->name));
    }
    check(
        *this,
        guarded(*type_->plugin, [&] { return functions.state_set(self_, detail::api::text_of(name), value.handle()); }),
        fmt::format("could not take its state `{}`", name));
}

void Instance::moved(std::optional<Device> device) {
    const soma_node_type& functions = type_->functions;
    if (functions.moved != nullptr) {
        const std::string text = device ? device->str() : std::string();
        check(*this, guarded(*type_->plugin, [&] { return functions.moved(self_, device ? text.c_str() : nullptr); }),
              device ? fmt::format("could not move to `{}`", text) : std::string("could not be made unplaced"));
    }
    device_ = device;
}

} // namespace soma

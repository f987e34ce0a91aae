// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soma/device.h"
#include "soma/export.h"
#include "soma/node_type.h"
#include "soma/value.h"

namespace soma {

/// One named tensor of a node.
struct State {
    std::string name;       ///< As the node calls it: "weight".
    Value value;            ///< A tensor.
    bool parameter = true;  ///< false: a buffer
    bool persistent = true; ///< Saved with the node.
};

/// A node made: the plugin's object, bound to an id. Shared by everything that runs it; destroyed with the last owner,
/// before its plugin can be unloaded.
class SOMA_API Instance {
public:
    /// Calls the type's `create`. Throws `NodeError` naming node and plugin when it fails or throws.
    static std::shared_ptr<Instance> create(std::shared_ptr<const NodeType> type, std::string id, const Value& config,
                                            std::optional<Device> device, std::uint64_t seed);
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    ~Instance();

    [[nodiscard]] const NodeType& type() const noexcept { return *type_; } ///< What it is an instance of.
    [[nodiscard]] const std::string& id() const noexcept { return id_; }   ///< Of its node.
    /// The configuration it was made with, defaults filled in.
    [[nodiscard]] const Value& config() const noexcept { return config_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; } ///< What `create` was given.
    /// Where it was last told to be; nullopt: nowhere in particular.
    [[nodiscard]] std::optional<Device> device() const noexcept { return device_; }
    [[nodiscard]] void* self() const noexcept { return self_; } ///< The plugin's own pointer.

    /// Parameters and buffers. Not while the node runs.
    [[nodiscard]] std::vector<State> state() const;
    /// Replaces one; an unknown name offers the nearest. Not while the node runs.
    void set_state(std::string_view name, const Value& value);
    /// Tells the node that it was placed elsewhere (nullopt: unplaced). Not while the node runs.
    void moved(std::optional<Device> device);

    /// Which run is inside a node that is not re-entrant: an address that differs between runs under way, 0 for none.
    std::atomic<std::uintptr_t> holder{0};

private:
    Instance(std::shared_ptr<const NodeType> type, std::string id, Value config, std::uint64_t seed);

    std::shared_ptr<const NodeType> type_;
    std::string id_;
    Value config_;
    std::uint64_t seed_;
    std::optional<Device> device_;
    void* self_ = nullptr;
};

} // namespace soma

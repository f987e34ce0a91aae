// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "soma/abi.h"

namespace soma {
class Plugin;
}

namespace soma::detail {
class Staging;
}

/// The host as one plugin sees it: who calls, and what that plugin may do now.
struct soma_host {
    static constexpr std::uint64_t live = 0x736f6d612d686f73;
    static constexpr std::uint64_t dead = 0x736f6d612d646561;

    soma_host() = default;
    soma_host(const soma_host&) = delete;
    soma_host& operator=(const soma_host&) = delete;
    ~soma_host() { magic.store(dead, std::memory_order_relaxed); }

    /// Tells a host from a pointer that only looks like one.
    std::atomic<std::uint64_t> magic{live};
    /// The plugin's name; its file's until that is known.
    std::string name;
    /// Where node types go while `register_nodes` runs; null at all other times.
    std::atomic<soma::detail::Staging*> staging{nullptr};
    /// What a value that carries a payload of the plugin keeps; empty while the plugin is being loaded.
    std::weak_ptr<const soma::Plugin> plugin;
};

namespace soma::detail {

/// The host that stands for the program itself, for what no plugin made. Never destroyed.
soma_host* program_host() noexcept;

} // namespace soma::detail

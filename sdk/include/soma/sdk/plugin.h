// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file plugin.h
/// The one line that makes a plugin of node classes.

#include <soma/sdk/adapter.h>
#include <soma/sdk/host_check.h>

#include <cstdio>

namespace soma::sdk {

/// Who made a plugin. Every text is a literal; the whole is a constant that the host reads before it runs any code.
class Plugin {
public:
    /// By name and version of its own.
    constexpr Plugin(std::string_view name, std::string_view version) noexcept {
        info_.struct_size = sizeof(soma_plugin_info);
        info_.name = detail::c_string(name);
        info_.version = detail::c_string(version);
    }
    /// What it is for, in one sentence.
    constexpr Plugin& doc(std::string_view text) noexcept {
        info_.doc = detail::c_string(text);
        return *this;
    }
    /// Who wrote it.
    constexpr Plugin& author(std::string_view text) noexcept {
        info_.author = detail::c_string(text);
        return *this;
    }
    /// Its licence, an SPDX expression.
    constexpr Plugin& license(std::string_view text) noexcept {
        info_.license = detail::c_string(text);
        return *this;
    }
    /// Where to read more.
    constexpr Plugin& url(std::string_view text) noexcept {
        info_.url = detail::c_string(text);
        return *this;
    }
    /// Gives an extension's table for an id, or nullptr. [any thread]
    constexpr Plugin& extensions(const void*(SOMA_CALL* function)(const char* id)) noexcept {
        extensions_ = function;
        return *this;
    }

    /// The C struct.
    constexpr soma_plugin_info info() const noexcept { return info_; }
    /// The plugin's own extensions, or nullptr.
    constexpr auto extensions() const noexcept { return extensions_; }

private:
    soma_plugin_info info_{};
    const void*(SOMA_CALL* extensions_)(const char* id) = nullptr;
};

namespace detail {

template <class... Nodes>
soma_status* SOMA_CALL register_nodes(const soma_api* api, soma_host* host) noexcept {
    binding = {api, host};
    try {
        const std::string wrong = complaint(api, host);
        if (!wrong.empty()) {
            binding = {};
            if (api != nullptr && SOMA_HAS(api, soma_api, status_create) && api->status_create != nullptr) {
                return api->status_create(host, SOMA_FAILED_PRECONDITION, c_string(wrong), nullptr);
            }
            // A status can only come from the host: without its function there is nobody to tell but the reader of stderr.
            std::fprintf(stderr, "somatize plugin: %s\n", wrong.c_str());
            return nullptr;
        }
        (check(api->register_node(host, Adapter<Nodes>::type())), ...);
        return nullptr;
    } catch (...) {
        return status_of_current_exception();
    }
}

inline void SOMA_CALL shutdown() noexcept { binding = {}; }

template <class... Nodes>
constexpr soma_entry entry(const soma_plugin_info* info, const Plugin& plugin) noexcept {
    static_assert(sizeof...(Nodes) > 0, "a plugin needs at least one node class");
    return {SOMA_PLUGIN_MAGIC,         sizeof(soma_entry), SOMA_ABI_MAJOR,     0, SOMA_ABI_MINOR, 0, info,
            &register_nodes<Nodes...>, &shutdown,          plugin.extensions()};
}

} // namespace detail
} // namespace soma::sdk

/// Defines the plugin: once, at global scope, e.g.
/// `SOMA_PLUGIN(soma::sdk::Plugin("acme", "1.0.0").doc("Acme's nodes.").license("MIT"), acme::Sum, acme::Mean)`.
#define SOMA_PLUGIN(description, ...)                                                                                  \
    namespace {                                                                                                        \
    constexpr ::soma::sdk::Plugin soma_sdk_plugin = description;                                                       \
    constexpr soma_plugin_info soma_sdk_plugin_info = soma_sdk_plugin.info();                                          \
    }                                                                                                                  \
    constexpr soma_entry soma_plugin_entry =                                                                           \
        ::soma::sdk::detail::entry<__VA_ARGS__>(&soma_sdk_plugin_info, soma_sdk_plugin);

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file plugin.h
/// The one line that makes a plugin of node classes.

#include <soma/sdk/adapter.h>
#include <soma/sdk/host_check.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

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

    /// Called once, after everything of the plugin is gone and before it is unloaded: the place to join its threads. The
    /// host can still be called, to log for instance. [load] What it throws is logged.
    constexpr Plugin& shutdown(void (*function)()) noexcept {
        shutdown_ = function;
        return *this;
    }
    /// A feature of the host that the plugin cannot do without, by its bit (0 to 63) and the name that a user reads when a
    /// host lacks it. Up to 8 of them; one more does not compile.
    constexpr Plugin& requires_feature(std::uint32_t bit, std::string_view name) {
        if (bit > 63) throw std::out_of_range{"a feature's bit is 0 to 63"};
        if (feature_count_ == most_features) throw std::length_error{"a plugin names up to 8 features"};
        required_ |= std::uint64_t{1} << bit;
        features_[feature_count_++] = {sizeof(soma_feature_name), bit, detail::c_string(name)};
        return *this;
    }

    /// The C struct. It points into this object.
    constexpr soma_plugin_info info() const noexcept {
        soma_plugin_info out = info_;
        out.feature_name_count = feature_count_;
        out.feature_names = feature_count_ == 0 ? nullptr : features_;
        out.feature_name_stride = feature_count_ == 0 ? 0 : sizeof(soma_feature_name);
        return out;
    }
    /// The plugin's own extensions, or nullptr.
    constexpr auto extensions() const noexcept { return extensions_; }
    /// What is called at the end, or nullptr.
    constexpr auto shutdown() const noexcept { return shutdown_; }
    /// The bits of the features that it needs.
    constexpr std::uint64_t required_features() const noexcept { return required_; }

private:
    static constexpr std::uint32_t most_features = 8;

    soma_plugin_info info_{};
    const void*(SOMA_CALL* extensions_)(const char* id) = nullptr;
    void (*shutdown_)() = nullptr;
    std::uint64_t required_ = 0;
    std::uint32_t feature_count_ = 0;
    soma_feature_name features_[most_features]{};
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

template <const Plugin& plugin>
void SOMA_CALL shutdown() noexcept {
    try {
        if (plugin.shutdown() != nullptr) plugin.shutdown()();
    } catch (const std::exception& error) {
        log(LogLevel::error, std::string{"its shutdown failed: "} + error.what());
    } catch (...) {
        log(LogLevel::error, "its shutdown failed");
    }
    binding = {};
}

template <const Plugin& plugin, class... Nodes>
constexpr soma_entry entry(const soma_plugin_info* info) noexcept {
    static_assert(sizeof...(Nodes) > 0, "a plugin needs at least one node class");
    return {SOMA_PLUGIN_MAGIC, sizeof(soma_entry),         SOMA_ABI_MAJOR, 0,
            SOMA_ABI_MINOR,    plugin.required_features(), info,           &register_nodes<Nodes...>,
            &shutdown<plugin>, plugin.extensions()};
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
        ::soma::sdk::detail::entry<soma_sdk_plugin, __VA_ARGS__>(&soma_sdk_plugin_info);

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file host.h
/// The host as this plugin sees it: the one place where the table of functions and the plugin's own handle are kept.

#include <soma/abi.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

/// Keeps a variable inside the plugin, whatever flags it was compiled with: two plugins never share one.
#if defined(__GNUC__)
#define SOMA_SDK_LOCAL __attribute__((visibility("hidden")))
#else
#define SOMA_SDK_LOCAL
#endif

namespace soma::sdk {

namespace detail {

struct Binding {
    const soma_api* api = nullptr;
    soma_host* host = nullptr;
};

/// Set while the plugin registers, cleared when it shuts down.
SOMA_SDK_LOCAL inline Binding binding;

[[noreturn]] inline void not_bound() {
    throw std::logic_error{
        "a Somatize plugin used its host before registration or after shutdown (a value in a static variable?)"};
}

constexpr soma_string c_string(std::string_view text) noexcept { return {text.data(), text.size()}; }

inline std::string_view view(soma_string text) noexcept {
    return text.data == nullptr ? std::string_view{} : std::string_view{text.data, static_cast<std::size_t>(text.size)};
}

} // namespace detail

/// The host's table of functions. [any thread] Throws std::logic_error outside the plugin's life.
inline const soma_api& api() {
    if (detail::binding.api == nullptr) detail::not_bound();
    return *detail::binding.api;
}

/// This plugin's handle, the first argument of every function of the table. [any thread]
inline soma_host* host() noexcept { return detail::binding.host; }

/// What the host calls itself, e.g. "somatize 0.1.0". Lives as long as the plugin.
inline std::string_view host_version() { return api().host_version; }

/// The host's table for an extension id such as "soma.torch/1", or nullptr when this host has none. [any thread]
inline const void* host_extension(const char* id) { return api().get_extension(host(), id); }

/// Importance of a line in the host's log.
enum class LogLevel : std::uint32_t {
    debug = SOMA_LOG_DEBUG,
    info = SOMA_LOG_INFO,
    warning = SOMA_LOG_WARNING,
    error = SOMA_LOG_ERROR,
};

/// Writes a line to the host's log; `node_id` says which node speaks and may be empty. [any thread]
inline void log(LogLevel level, std::string_view text, std::string_view node_id = {}) {
    api().log(host(), static_cast<std::uint32_t>(level), detail::c_string(node_id), detail::c_string(text));
}

} // namespace soma::sdk

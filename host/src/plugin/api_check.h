// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/status_data.h"
#include "core/value_data.h"
#include "plugin/host.h"
#include "soma/detail/status.h"
#include "soma/error.h"

/// What every function of the plugins' table does first: is the caller who it says it is, and is what it passes there?
namespace soma::detail::api {

/// Whether `host` is one that the host gave out and that is still in use.
inline bool is_live(const soma_host* host) noexcept {
    return host != nullptr && reinterpret_cast<std::uintptr_t>(host) % alignof(soma_host) == 0 &&
           host->magic.load(std::memory_order_relaxed) == soma_host::live;
}

/// A failure of a call: its message begins with the function's name.
soma_status* fail(std::uint32_t code, std::string_view function, std::string_view what) noexcept;

/// The failure for a host that is not one.
soma_status* wrong_host(const soma_host* host, std::string_view function) noexcept;
/// The failure for a handle that is null or was freed already.
soma_status* wrong_handle(const soma_value* value, std::string_view function, std::string_view argument) noexcept;
/// The failure for a pointer that is null.
soma_status* null_pointer(std::string_view function, std::string_view argument) noexcept;
/// The failure for a value of another kind.
soma_status* wrong_kind(std::string_view function, std::uint32_t expected, std::uint32_t got) noexcept;
/// The failure for the exception being handled.
soma_status* from_exception(std::string_view function) noexcept;

/// Says in the log that a plugin misused a function that cannot fail. A host that is not one is spoken of as such.
void complain(const soma_host* host, std::string_view function, std::string_view what) noexcept;
/// Whether `host` is one; else complains.
bool check_or_complain(const soma_host* host, std::string_view function) noexcept;

/// Whether the handle is there and was not freed, as far as can be told.
inline bool is_handle(const soma_value* value) noexcept { return value != nullptr && value->kind != 0; }

/// Whether a string passed by value can be read.
inline bool is_readable(soma_string text) noexcept {
    return (text.data != nullptr || text.size == 0) && text.size <= static_cast<std::uint64_t>(PTRDIFF_MAX);
}
/// The failure for a string that cannot be.
soma_status* wrong_string(std::string_view function, std::string_view argument) noexcept;

inline std::string_view view(soma_string text) noexcept {
    return {text.size == 0 ? "" : text.data, static_cast<std::size_t>(text.size)};
}
inline soma_string text_of(std::string_view text) noexcept { return {text.data(), text.size()}; }

/// Runs `body`, which returns a status, and makes what it throws one.
template <class Body>
soma_status* guarded(std::string_view function, Body&& body) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (...) {
        return from_exception(function);
    }
}

/// How many `PluginCall`s live on this thread.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit int plugin_calls;

/// While one lives, plugin code is on this thread's stack below us: no plugin may be unloaded here and now.
class PluginCall {
public:
    PluginCall() noexcept { ++plugin_calls; }
    ~PluginCall() { --plugin_calls; }
    PluginCall(const PluginCall&) = delete;
    PluginCall& operator=(const PluginCall&) = delete;

    /// Whether one lives on this thread.
    static bool active() noexcept { return plugin_calls > 0; }
};

} // namespace soma::detail::api

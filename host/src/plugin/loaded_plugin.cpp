// SPDX-License-Identifier: Apache-2.0
#include "plugin/loaded_plugin.h"

#include <atomic>

#include "plugin/api_check.h"
#include "soma/log.h"

namespace soma {

Plugin::~Plugin() = default;

namespace detail {

namespace {

class Deferred {
public:
    void add(std::unique_ptr<LoadedPlugin> plugin) {
        const std::lock_guard lock(mutex_);
        plugins_.push_back(std::move(plugin));
        any_.store(true, std::memory_order_release);
    }
    std::vector<std::unique_ptr<LoadedPlugin>> take() {
        if (!any_.load(std::memory_order_acquire)) return {};
        const std::lock_guard lock(mutex_);
        any_.store(false, std::memory_order_relaxed);
        return std::exchange(plugins_, {});
    }

private:
    std::atomic<bool> any_{false}; // so that asking costs nothing as long as there is none
    std::mutex mutex_;
    std::vector<std::unique_ptr<LoadedPlugin>> plugins_;
};

// Neither is ever destroyed: values in static variables may be the last owners of plugins.
Deferred& deferred() noexcept {
    static Deferred& list = *std::make_unique<Deferred>().release();
    return list;
}

} // namespace

std::recursive_mutex& loading_mutex() noexcept {
    static std::recursive_mutex& mutex = *std::make_unique<std::recursive_mutex>().release();
    return mutex;
}

LoadedPlugin::~LoadedPlugin() {
    const std::lock_guard lock(loading_mutex());
    prototypes.clear();
    if (registered && has_shutdown) {
        try {
            library.entry->shutdown();
        } catch (...) {
            log(LogLevel::error, name, {}, "`shutdown` threw, which no plugin function may");
        }
    }
    host_.magic.store(soma_host::dead, std::memory_order_relaxed);
    library.handle.reset();
}

std::shared_ptr<LoadedPlugin> LoadedPlugin::make() {
    std::shared_ptr<LoadedPlugin> plugin(std::make_unique<LoadedPlugin>().release(), &LoadedPlugin::retire);
    plugin->host_.plugin = plugin;
    return plugin;
}

void LoadedPlugin::retire(LoadedPlugin* raw) noexcept {
    std::unique_ptr<LoadedPlugin> plugin(raw);
    if (api::PluginCall::active()) {
        deferred().add(std::move(plugin));
        return;
    }
    plugin.reset();
    unload_deferred();
}

void unload_deferred() noexcept {
    if (api::PluginCall::active()) return;
    // The end of one may bring about that of another.
    for (auto plugins = deferred().take(); !plugins.empty(); plugins = deferred().take()) plugins.clear();
}

} // namespace detail
} // namespace soma

// SPDX-License-Identifier: Apache-2.0
// The way of a file to a plugin. The order of the steps is the point of it: each may rely on those before it.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/status_guard.h"
#include "plugin/api.h"
#include "plugin/elf.h"
#include "plugin/entry_check.h"
#include "plugin/features.h"
#include "plugin/loaded_plugin.h"
#include "plugin/staging.h"
#include "plugin/structs.h"
#include "soma/detail/engine.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

// Every plugin in the process; guarded by `loading_mutex`. A library is one object to the system's loader, so it has to be
// one to us, however many catalogs there are.
std::vector<std::weak_ptr<LoadedPlugin>>& loaded() {
    static auto& list = *std::make_unique<std::vector<std::weak_ptr<LoadedPlugin>>>().release();
    return list;
}

template <class Is>
std::shared_ptr<LoadedPlugin> find_loaded(Is&& is) {
    std::erase_if(loaded(), [](const auto& weak) { return weak.expired(); });
    for (const auto& weak : loaded()) {
        std::shared_ptr<LoadedPlugin> plugin = weak.lock();
        if (plugin != nullptr && is(*plugin)) return plugin;
    }
    return nullptr;
}

// A plugin that links libtorch has to have the one that the engine has: two would not know each other's tensors.
void check_fingerprint(const std::string& wanted) {
    std::string_view there;
    try {
        there = require_engine().fingerprint;
    } catch (const EngineError& error) {
        throw PluginError(fmt::format("it was linked against libtorch ({}), and {}", wanted, error.what()));
    }
    if (wanted == there) return;
    throw PluginError(
        fmt::format("it was linked against another libtorch: expected `{}`, got `{}`; build it against the "
                    "libtorch that this host uses",
                    there, wanted));
}

void register_types(LoadedPlugin& plugin, Staging& staging) {
    soma_host* host = plugin.host();
    host->name = plugin.name;
    host->staging.store(&staging, std::memory_order_release);
    std::string threw;
    soma_status* status = nullptr;
    try {
        status = plugin.library.entry->register_nodes(&plugin_api(), host);
    } catch (const std::exception& error) {
        threw = error.what();
        if (threw.empty()) threw = "an exception";
    } catch (...) {
        threw = "something that is no std::exception";
    }
    host->staging.store(nullptr, std::memory_order_release);
    const StatusGuard failure(status);
    if (!threw.empty()) {
        throw PluginError(fmt::format("its `register_nodes` threw, which no plugin function may: {}", threw));
    }
    if (failure) throw PluginError(fmt::format("its `register_nodes` failed: {}", full_message(status)));
    // From here on the plugin believes that it was accepted, and has to be told when it is not.
    plugin.registered = true;
    if (const std::optional<std::string> wrong = staging.failure()) throw PluginError(*wrong);
}

void finish(LoadedPlugin& plugin, std::size_t object_size) {
    check_entry(*plugin.library.entry, object_size, plugin);
    plugin.has_shutdown = prefix_of(*plugin.library.entry).shutdown != nullptr;
    Staging staging;
    try {
        register_types(plugin, staging);
    } catch (const PluginError& error) {
        throw Refused{error.what(), staging.names()};
    }
    plugin.prototypes = staging.take();
    for (const NodeType& type : plugin.prototypes) plugin.types.push_back(type.name);
}

} // namespace

std::shared_ptr<LoadedPlugin> load_plugin(const std::filesystem::path& path) {
    unload_deferred();
    const std::lock_guard lock(loading_mutex());
    try {
        PluginFile file = PluginFile::open(path);
        const auto same = [&](const LoadedPlugin& other) {
            return other.file.is_open() && other.file.same_content(file);
        };
        if (std::shared_ptr<LoadedPlugin> found = find_loaded(same)) return found;
        // The system's loader goes by the path: it would give us the old library for the new file.
        if (find_loaded([&](const LoadedPlugin& other) { return other.path == file.path(); }) != nullptr) {
            throw PluginError(
                "another plugin that was loaded from this path is still in use; drop it first, or start the "
                "program anew");
        }

        const ElfFacts facts = inspect_elf(file);
        if (facts.fingerprint) check_fingerprint(*facts.fingerprint);
        // Before loading, for loading runs the plugin's initialisers, and what is of another version should not run.
        soma_entry head{};
        std::memcpy(static_cast<void*>(&head), facts.entry.data(), facts.entry.size());
        check_entry_head(head);
        check_features(head.required_features, [&](unsigned bit) { return feature_name_in(file, facts, bit); });

        std::shared_ptr<LoadedPlugin> plugin = LoadedPlugin::make();
        plugin->library = load_library(file.path());
        plugin->path = file.path();
        plugin->links_tensor_library = facts.fingerprint.has_value();
        plugin->file = std::move(file);
        finish(*plugin, facts.entry_size);
        loaded().push_back(plugin);
        return plugin;
    } catch (const PluginError& error) {
        throw Refused{error.what(), {}};
    }
}

std::shared_ptr<LoadedPlugin> load_plugin(const soma_entry& entry) {
    unload_deferred();
    const std::lock_guard lock(loading_mutex());
    const auto same = [&](const LoadedPlugin& other) { return !other.file.is_open() && other.library.entry == &entry; };
    if (std::shared_ptr<LoadedPlugin> found = find_loaded(same)) return found;
    try {
        std::shared_ptr<LoadedPlugin> plugin = LoadedPlugin::make();
        plugin->library.entry = &entry;
        finish(*plugin, 0);
        loaded().push_back(plugin);
        return plugin;
    } catch (const PluginError& error) {
        throw Refused{error.what(), {}};
    }
}

} // namespace soma::detail

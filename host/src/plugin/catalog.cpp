// SPDX-License-Identifier: Apache-2.0
#include "soma/catalog.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/quote.h"
#include "plugin/loaded_plugin.h"
#include "plugin/mentions.h"
#include "soma/error.h"
#include "soma/suggest.h"

namespace soma {

using detail::LoadedPlugin;
using detail::Refused;

struct Catalog::Impl {
    std::map<std::string, std::shared_ptr<const NodeType>, std::less<>> types;
    std::vector<std::shared_ptr<const Plugin>> plugins;
    std::vector<Refusal> refusals;
    std::vector<std::vector<std::string>> refused_types; // of `refusals`, by position

    // All of a plugin's types or none.
    void commit(const std::shared_ptr<LoadedPlugin>& plugin) {
        if (std::find(plugins.begin(), plugins.end(), plugin) != plugins.end()) return;
        for (const NodeType& type : plugin->prototypes) {
            const auto taken = types.find(type.name);
            if (taken == types.end()) continue;
            throw Refused{fmt::format("node type `{}` is given by {} already, so that all of this plugin is left out; "
                                      "remove one of the two",
                                      type.name, called(*taken->second->plugin)),
                          plugin->types};
        }
        plugins.reserve(plugins.size() + 1);
        std::map<std::string, std::shared_ptr<const NodeType>, std::less<>> added;
        for (const NodeType& prototype : plugin->prototypes) {
            auto type = std::make_shared<NodeType>(prototype);
            type->plugin = plugin;
            added.emplace(prototype.name, std::move(type));
        }
        types.merge(added);
        plugins.push_back(plugin);
    }

    static std::string called(const Plugin& plugin) {
        if (plugin.path.empty()) return fmt::format("plugin `{}`, which is part of the program,", plugin.name);
        return fmt::format("plugin `{}` (`{}`)", plugin.name, plugin.path.string());
    }

    void refuse(const std::filesystem::path& path, Refused why) {
        refusals.push_back({path, std::move(why.reason)});
        refused_types.push_back(std::move(why.types));
    }
};

Catalog::Catalog() : impl_(std::make_shared<Impl>()) {}

void Catalog::load_directory(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    std::filesystem::directory_iterator entries(directory, error);
    while (!error && entries != std::filesystem::directory_iterator()) {
        if (entries->path().native().ends_with(detail::plugin_suffix)) files.push_back(entries->path());
        entries.increment(error);
    }
    if (error) {
        throw PluginError(fmt::format("plugin directory `{}` cannot be read: {}", directory.string(), error.message()));
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        try {
            impl_->commit(detail::load_plugin(file));
        } catch (Refused& why) {
            impl_->refuse(file, std::move(why));
        }
    }
}

std::shared_ptr<const Plugin> Catalog::load_file(const std::filesystem::path& file) {
    try {
        std::shared_ptr<LoadedPlugin> plugin = detail::load_plugin(file);
        impl_->commit(plugin);
        return plugin;
    } catch (const Refused& why) {
        throw PluginError(fmt::format("plugin `{}` was refused: {}", file.string(), why.reason));
    }
}

std::shared_ptr<const Plugin> Catalog::add(const soma_entry& entry) {
    try {
        std::shared_ptr<LoadedPlugin> plugin = detail::load_plugin(entry);
        impl_->commit(plugin);
        return plugin;
    } catch (const Refused& why) {
        throw PluginError(fmt::format("a plugin that is part of the program was refused: {}", why.reason));
    }
}

std::shared_ptr<const NodeType> Catalog::find(std::string_view name) const {
    const auto found = impl_->types.find(name);
    return found == impl_->types.end() ? nullptr : found->second;
}

std::shared_ptr<const NodeType> Catalog::get(std::string_view name) const {
    if (auto found = find(name)) return found;
    if (const Refusal* refusal = refused_provider(name)) {
        throw GraphError(fmt::format("there is no node type {}; `{}` would have given it but was refused: {}",
                                     detail::quoted(name), refusal->path.string(), refusal->reason));
    }
    const std::vector<std::string> names = types();
    if (names.empty()) {
        throw GraphError(fmt::format("there is no node type {}: no plugin is loaded", detail::quoted(name)));
    }
    throw GraphError(fmt::format("there is no node type {}{}", detail::quoted(name), did_you_mean(name, names)));
}

std::vector<std::string> Catalog::types() const {
    std::vector<std::string> names;
    names.reserve(impl_->types.size());
    for (const auto& [name, type] : impl_->types) names.push_back(name);
    return names;
}

std::vector<std::shared_ptr<const Plugin>> Catalog::plugins() const { return impl_->plugins; }

std::span<const Refusal> Catalog::refusals() const { return impl_->refusals; }

const Refusal* Catalog::refused_provider(std::string_view type) const {
    for (std::size_t i = 0; i < impl_->refusals.size(); ++i) {
        const auto& types = impl_->refused_types[i];
        if (std::find(types.begin(), types.end(), type) != types.end()) return &impl_->refusals[i];
    }
    for (std::size_t i = 0; i < impl_->refusals.size(); ++i) {
        if (!impl_->refused_types[i].empty()) continue; // what it gives is known
        if (detail::mentions(impl_->refusals[i].path, type)) return &impl_->refusals[i];
    }
    return nullptr;
}

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/dl.h"
#include "plugin/file.h"
#include "plugin/host.h"
#include "soma/node_type.h"
#include "soma/plugin.h"

namespace soma::detail {

/// A plugin in this process. When its last owner goes, its `shutdown` is called and its library unloaded; when that happens
/// below code of a plugin on the same thread's stack, it waits for `unload_deferred`.
class LoadedPlugin final : public Plugin {
public:
    LoadedPlugin() = default;
    ~LoadedPlugin() override;

    /// One whose end is as above.
    static std::shared_ptr<LoadedPlugin> make();

    [[nodiscard]] soma_host* host() const noexcept override { return &host_; }

    PluginFile file;         ///< not open for a plugin that is part of the program
    Library library;         ///< no handle for one that is part of the program
    bool registered = false; ///< `register_nodes` succeeded, so `shutdown` is owed
    bool has_shutdown = false;
    std::vector<NodeType> prototypes; ///< its types; their `plugin` is null, else it would own itself

private:
    static void retire(LoadedPlugin* plugin) noexcept;

    mutable soma_host host_;
};

/// Serialises loading and unloading: two at once would mix up what a library holds once a process.
std::recursive_mutex& loading_mutex() noexcept;

/// Unloads the plugins whose end had to wait. Does nothing when called below code of a plugin.
void unload_deferred() noexcept;

/// Why a file is no plugin of ours, and the node types it would have given, as far as they became known.
struct Refused {
    std::string reason;
    std::vector<std::string> types;
};

/// Loads a file, or gives the plugin that is loaded from the same content already. Throws `Refused`.
std::shared_ptr<LoadedPlugin> load_plugin(const std::filesystem::path& path);
/// The same for a plugin that is part of the program.
std::shared_ptr<LoadedPlugin> load_plugin(const soma_entry& entry);

} // namespace soma::detail

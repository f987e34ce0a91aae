// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soma/export.h"
#include "soma/node_type.h"
#include "soma/plugin.h"

namespace soma {

/// Who: the node types that plugins gave.
///
/// Copies share what was loaded. Loading is not safe from several threads at once on one catalog; reading is.
class SOMA_API Catalog {
public:
    Catalog();

    /// Loads every `*.soma.so` of a directory, in the order of names. A file that is refused is kept in `refusals()`. A
    /// directory that cannot be read is a `PluginError`.
    void load_directory(const std::filesystem::path& directory);
    /// Loads one file; throws `PluginError` when it is refused.
    std::shared_ptr<const Plugin> load_file(const std::filesystem::path& file);
    /// Registers a plugin that is part of the program. `entry` must live as long as the process.
    std::shared_ptr<const Plugin> add(const soma_entry& entry);

    /// The type, or null.
    [[nodiscard]] std::shared_ptr<const NodeType> find(std::string_view name) const;
    /// The type; an unknown one is a `GraphError` that offers the nearest, and tells of a refused plugin that would have
    /// given it.
    [[nodiscard]] std::shared_ptr<const NodeType> get(std::string_view name) const;
    /// Names, sorted.
    [[nodiscard]] std::vector<std::string> types() const;
    [[nodiscard]] std::vector<std::shared_ptr<const Plugin>> plugins() const; ///< Those loaded, in the order they were.
    [[nodiscard]] std::span<const Refusal> refusals() const;                  ///< Files that were refused, and why.
    /// The refused file that mentions `type`, or null.
    [[nodiscard]] const Refusal* refused_provider(std::string_view type) const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// Where plugins are looked for, in order: `first` as given, `SOMATIZE_PLUGIN_PATH` (separated by ':'),
/// `$XDG_DATA_HOME/somatize/plugins` (else ~/.local/share/…), and the directory of the shipped plugins, found relative to
/// `libsomatize.so`. Never the current directory. Directories of the environment that do not exist are left out.
SOMA_API std::vector<std::filesystem::path> plugin_search_path(std::span<const std::filesystem::path> first = {});

} // namespace soma

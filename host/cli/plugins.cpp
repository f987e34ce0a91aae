// SPDX-License-Identifier: Apache-2.0
#include "plugins.h"

#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "console.h"
#include "files.h"
#include "soma/error.h"

namespace soma::cli {

namespace fs = std::filesystem;

void PluginOptions::declare(Arguments& arguments) {
    arguments.repeated("--plugins", "DIR", "look for plugins here first; a plugin's file will do as well", paths);
}

Catalog load_plugins(const PluginOptions& options) {
    std::vector<fs::path> first;
    for (const std::string& path : options.paths) {
        std::error_code error;
        if (path.empty() || !fs::exists(path, error)) {
            throw UsageError(
                fmt::format("--plugins {}: there is no such folder or file{}", path, nearest_file(path, {".soma.so"})));
        }
        first.emplace_back(path);
    }
    Catalog catalog;
    for (std::size_t i = 0; const fs::path& path : plugin_search_path(first)) {
        const bool named = i++ < first.size();
        std::error_code error;
        if (named && !fs::is_directory(path, error)) {
            catalog.load_file(path);
            continue;
        }
        try {
            catalog.load_directory(path);
        } catch (const PluginError& failure) {
            if (named) throw;
            report_warning(failure.what());
        }
    }
    return catalog;
}

void warn_of_refusals(const Catalog& catalog) {
    for (const Refusal& refusal : catalog.refusals()) {
        const std::string file = refusal.path.string();
        const bool told = refusal.reason.find(file) != std::string::npos;
        report_warning(told ? refusal.reason : fmt::format("plugin `{}` was refused: {}", file, refusal.reason));
    }
}

std::string nothing_found(const PluginOptions& options) {
    const std::vector<fs::path> first(options.paths.begin(), options.paths.end());
    std::string places;
    for (const fs::path& path : plugin_search_path(first)) {
        if (!places.empty()) places += ", ";
        places += fmt::format("`{}`", path.string());
    }
    if (places.empty()) places = "the environment (SOMATIZE_PLUGIN_PATH, $XDG_DATA_HOME/somatize/plugins)";
    return fmt::format("there are no plugins in {}; `--plugins DIR` names another folder", places);
}

} // namespace soma::cli

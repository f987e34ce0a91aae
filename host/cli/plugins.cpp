// SPDX-License-Identifier: Apache-2.0
#include "plugins.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "console.h"
#include "files.h"
#include "soma/error.h"
#include "soma/log.h"

namespace soma::cli {

namespace fs = std::filesystem;

void PluginOptions::declare(Arguments& arguments) {
    arguments.repeated("--plugins", "DIR", "look for plugins here first; a plugin's file will do as well", paths);
}

Catalog load_plugins(const PluginOptions& options, std::vector<std::string>* refused) {
    forbid_exit();
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
        try {
            if (named && !fs::is_directory(path, error)) {
                catalog.load_file(path);
            } else {
                catalog.load_directory(path);
            }
        } catch (const PluginError& failure) {
            if (named && refused == nullptr) throw;
            if (named) {
                refused->emplace_back(failure.what());
            } else if (log_level() <= LogLevel::warning) {
                report_warning(failure.what());
            }
        }
    }
    return catalog;
}

std::string refusal_text(const Refusal& refusal) {
    const std::string file = refusal.path.string();
    if (refusal.reason.find(file) != std::string::npos) return refusal.reason;
    return fmt::format("plugin `{}` was refused: {}", file, refusal.reason);
}

void warn_of_refusals(const Catalog& catalog, std::span<const Refusal* const> told) {
    if (log_level() > LogLevel::warning) return;
    for (const Refusal& refusal : catalog.refusals()) {
        if (std::find(told.begin(), told.end(), &refusal) == told.end()) report_warning(refusal_text(refusal));
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

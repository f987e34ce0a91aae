// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/libraries.h"
#include "soma/catalog.h"
#include "soma/log.h"

namespace soma {

namespace {

namespace fs = std::filesystem;

// Null also where the environment is not to be trusted, as in a program with the set-user-ID bit.
std::string_view environment(const char* name) noexcept {
    const char* text = secure_getenv(name);
    return text == nullptr ? "" : text;
}

} // namespace

std::vector<fs::path> plugin_search_path(std::span<const fs::path> first) {
    std::vector<fs::path> path(first.begin(), first.end());
    const auto add = [&](const fs::path& directory) {
        std::error_code ignored;
        if (!fs::is_directory(directory, ignored)) return;
        if (std::find(path.begin(), path.end(), directory) == path.end()) path.push_back(directory);
    };

    std::string_view listed = environment("SOMATIZE_PLUGIN_PATH");
    while (!listed.empty()) {
        const std::size_t colon = listed.find(':');
        const std::string_view item = listed.substr(0, colon);
        listed.remove_prefix(colon == std::string_view::npos ? listed.size() : colon + 1);
        if (item.empty()) continue;
        if (!fs::path(item).is_absolute()) {
            // It would mean something else in every directory.
            log(LogLevel::warning, "host", {},
                fmt::format("`{}` in SOMATIZE_PLUGIN_PATH is left out, for it is not an absolute path", item));
            continue;
        }
        add(item);
    }

    const fs::path data = environment("XDG_DATA_HOME");
    const fs::path home = environment("HOME");
    if (data.is_absolute()) {
        add(data / "somatize/plugins");
    } else if (home.is_absolute()) {
        add(home / ".local/share/somatize/plugins");
    }
    add((detail::library_directory() / SOMA_PLUGINS_FROM_LIB).lexically_normal());
    return path;
}

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
// The one place where a plugin is loaded into the process.
#include "plugin/dl.h"

#include <string>
#include <system_error>

#include <boost/dll/shared_library.hpp>
#include <dlfcn.h>

#include <fmt/format.h>

#include "soma/error.h"

namespace soma::detail {

Library load_library(const std::filesystem::path& path) {
    namespace dll = boost::dll;
    auto library = std::make_shared<dll::shared_library>();
    std::error_code error;
    library->load(path, error, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    if (error) {
        // The error code has no words of the loader's, which name the library or symbol that is missing.
        const char* said = dlerror();
        std::string reason = said != nullptr ? said : error.message();
        const std::string prefix = path.string() + ": ";
        if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
        throw PluginError(
            fmt::format("the system cannot load it: {}; install what it needs, or build it for this system", reason));
    }
    if (!library->has("soma_plugin_entry")) {
        throw PluginError("`soma_plugin_entry` was in the file but is not in the library that was loaded");
    }
    const soma_entry& entry = library->get<const soma_entry>("soma_plugin_entry");
    return {std::move(library), &entry};
}

} // namespace soma::detail

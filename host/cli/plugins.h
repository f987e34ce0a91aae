// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "arguments.h"
#include "soma/catalog.h"

namespace soma::cli {

/// Where a command looks for plugins.
struct PluginOptions {
    std::vector<std::string> paths; ///< folders and files, as given

    void declare(Arguments& arguments);
};

/// Loads everything on the search path. A file that was named itself and is refused throws `PluginError`, a path that is
/// not there `UsageError`; every other refusal is kept in the catalog.
Catalog load_plugins(const PluginOptions& options);

/// One warning a refused file.
void warn_of_refusals(const Catalog& catalog);

/// "no plugins were found in a, b": for when there are none to show.
std::string nothing_found(const PluginOptions& options);

} // namespace soma::cli

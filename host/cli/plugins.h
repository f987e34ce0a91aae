// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
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

/// Loads everything on the search path. A file that was named itself and is refused throws `PluginError`, or is told of in
/// `refused`, if given; a path that is not there throws `UsageError`; every other refusal is kept in the catalog.
Catalog load_plugins(const PluginOptions& options, std::vector<std::string>* refused = nullptr);

/// "plugin `a.soma.so` was refused: …".
std::string refusal_text(const Refusal& refusal);
/// One warning a refused file, unless SOMATIZE_LOG wants none. The files in `told` are left out: more is said of them.
void warn_of_refusals(const Catalog& catalog, std::span<const Refusal* const> told = {});

/// "no plugins were found in a, b": for when there are none to show.
std::string nothing_found(const PluginOptions& options);

} // namespace soma::cli

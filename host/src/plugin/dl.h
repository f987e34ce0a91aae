// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "soma/abi.h"

namespace soma::detail {

/// A plugin's library in this process. It is unloaded when `handle` goes.
struct Library {
    std::shared_ptr<const void> handle;
    const soma_entry* entry = nullptr;
};

/// Loads it with all its symbols bound now and visible to nobody else, and finds its entry. Throws `PluginError` with the
/// loader's own words. The library's initialisers run here.
Library load_library(const std::filesystem::path& path);

} // namespace soma::detail

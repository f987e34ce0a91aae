// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace soma::detail {

/// Whether a regular file holds `type` as a word of its own: the name of a node type is in the bytes of the plugin that
/// gives it, also when the plugin cannot be loaded to ask it.
bool mentions(const std::filesystem::path& path, std::string_view type);

} // namespace soma::detail

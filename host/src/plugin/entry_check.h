// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "soma/abi.h"
#include "soma/plugin.h"

namespace soma::detail {

/// The features a plugin may require of this host, as bits. There are none yet.
inline constexpr std::uint64_t known_features = 0;

/// Judges the frozen first 32 bytes of an entry: magic, then versions. Throws `PluginError` showing both numbers. Needs no
/// line of the plugin to have run.
void check_entry_head(const soma_entry& head);

/// Judges the features that a plugin requires: throws `PluginError` with the number of each that this host does not know and
/// what `name_of` calls it, empty for nothing. Needs no line of the plugin to have run.
void check_features(std::uint64_t required, const std::function<std::string(unsigned bit)>& name_of);

/// Judges the rest of an entry that is in memory: sizes, features, mandatory members, texts; fills what `plugin` says of
/// itself. `object_size` is how large the object is, 0 when that is not known. Throws `PluginError`.
void check_entry(const soma_entry& entry, std::size_t object_size, Plugin& plugin);

} // namespace soma::detail

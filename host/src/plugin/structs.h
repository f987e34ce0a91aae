// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "soma/abi.h"

/// Reading a plugin's structs, whatever minor it was built with: a field that does not end within struct_size is not there.
namespace soma::detail {

/// A copy of `object` in today's layout; what the plugin's struct lacks is zero. Its struct_size stays the plugin's.
template <class Struct>
Struct prefix_of(const Struct& object) noexcept {
    Struct copy{};
    std::memcpy(static_cast<void*>(&copy), &object, std::min<std::size_t>(object.struct_size, sizeof copy));
    return copy;
}

/// The smallest struct_size that can be worked with, up to and including what is mandatory.
inline constexpr std::size_t least_entry = offsetof(soma_entry, register_nodes) + sizeof(void*);
inline constexpr std::size_t least_info = offsetof(soma_plugin_info, name) + sizeof(soma_string);
inline constexpr std::size_t least_feature_name = sizeof(soma_feature_name);
inline constexpr std::size_t least_node_type = offsetof(soma_node_type, forward) + sizeof(void*);
inline constexpr std::size_t least_config_field = offsetof(soma_config_field, name) + sizeof(soma_string);
inline constexpr std::size_t least_port = offsetof(soma_port, name) + sizeof(soma_string);

/// No struct of any minor will ever be larger; a greater size is not a size.
inline constexpr std::size_t most_bytes_of_struct = 4096;
/// Nobody configures a node by more fields, or gives it more ports.
inline constexpr std::size_t most_in_array = 4096;

/// Throws `PluginError` unless `size` may be the size of the struct `name`, which `where` speaks of.
void check_size(std::uint64_t size, std::size_t least, std::string_view name, std::string_view where);

/// Throws `PluginError` unless the array of structs can be walked; calls `visit` with a copy of each in today's layout.
void check_array(const void* first, std::uint32_t count, std::uint32_t stride, std::size_t least, std::string_view name,
                 std::string_view where);

template <class Struct, class Visit>
void for_each(const Struct* first, std::uint32_t count, std::uint32_t stride, std::size_t least, std::string_view name,
              std::string_view where, Visit&& visit) {
    check_array(first, count, stride, least, name, where);
    const auto* at = reinterpret_cast<const unsigned char*>(first);
    for (std::uint32_t i = 0; i < count; ++i, at += stride) {
        const auto& object = *reinterpret_cast<const Struct*>(at);
        check_size(object.struct_size, least, name, where);
        visit(prefix_of(object));
    }
}

/// The text of a plugin's string; throws `PluginError` when it cannot be read or is not UTF-8. `what` names it.
std::string checked_text(soma_string text, std::string_view what, std::string_view where);

} // namespace soma::detail

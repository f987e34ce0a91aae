// SPDX-License-Identifier: Apache-2.0
#include "plugin/entry_check.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/quote.h"
#include "plugin/structs.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

constexpr std::uint8_t magic[8] = SOMA_PLUGIN_MAGIC;
constexpr std::string_view where = "its soma_plugin_info";

static_assert(std::endian::native == std::endian::little, "the interface is little-endian only");

// What the plugin that is in memory calls the bit.
std::string feature_name(const soma_plugin_info& info, unsigned bit) {
    std::string name;
    for_each(info.feature_names, info.feature_name_count, info.feature_name_stride, least_feature_name,
             "soma_feature_name", where, [&](const soma_feature_name& feature) {
                 if (feature.bit == bit) name = checked_text(feature.name, "the name of a feature", where);
             });
    return name;
}

} // namespace

void check_entry_head(const soma_entry& head) {
    if (std::memcmp(head.magic, magic, sizeof magic) != 0) {
        throw PluginError(
            fmt::format("expected `soma_plugin_entry` to begin with the magic `SOMAPLUG`, got {}; begin it "
                        "with SOMA_PLUGIN_MAGIC",
                        quoted({reinterpret_cast<const char*>(head.magic), sizeof head.magic})));
    }
    if (head.abi_major != SOMA_ABI_MAJOR) {
        throw PluginError(
            fmt::format("it was built for version {} of the plugin interface, this host has version {}; {}",
                        head.abi_major, SOMA_ABI_MAJOR,
                        head.abi_major > SOMA_ABI_MAJOR ? "update somatize, or get an older plugin"
                                                        : "get a newer plugin, or build it anew"));
    }
    if (head.min_host_minor > SOMA_ABI_MINOR) {
        throw PluginError(
            fmt::format("it needs version {0}.{1} of the plugin interface or later, this host has {0}.{2}; "
                        "update somatize, or get an older plugin",
                        SOMA_ABI_MAJOR, head.min_host_minor, SOMA_ABI_MINOR));
    }
}

void check_features(std::uint64_t required, const std::function<std::string(unsigned bit)>& name_of) {
    const std::uint64_t unknown = required & ~known_features;
    if (unknown == 0) return;
    std::string list;
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((unknown >> bit & 1) == 0) continue;
        const std::string name = name_of(bit);
        list += fmt::format("{}bit {} ({})", list.empty() ? "" : ", ", bit,
                            name.empty() ? std::string("which it gives no name") : detail::quoted(name));
    }
    throw PluginError(fmt::format("it requires features that this host does not know: {}; update somatize, or get the "
                                  "plugin built without them",
                                  list));
}

void check_entry(const soma_entry& given, std::size_t object_size, Plugin& plugin) {
    check_entry_head(given);
    check_size(given.struct_size, least_entry, "soma_entry", "its `soma_plugin_entry`");
    if (object_size != 0 && given.struct_size > object_size) {
        throw PluginError(
            fmt::format("its `soma_plugin_entry` says that it has {} bytes, but there are {}; set struct_size "
                        "to sizeof(soma_entry)",
                        given.struct_size, object_size));
    }
    const soma_entry entry = prefix_of(given);
    if (entry.info == nullptr) throw PluginError("its `soma_plugin_entry` has no `info`, which is mandatory");
    check_size(entry.info->struct_size, least_info, "soma_plugin_info", where);
    const soma_plugin_info info = prefix_of(*entry.info);
    check_features(entry.required_features, [&](unsigned bit) { return feature_name(info, bit); });
    if (entry.register_nodes == nullptr) {
        throw PluginError("its `soma_plugin_entry` has no `register_nodes`, which is mandatory");
    }
    plugin.name = checked_text(info.name, "name", where);
    if (plugin.name.empty()) throw PluginError("its soma_plugin_info has no name, which is mandatory");
    plugin.version = checked_text(info.version, "version", where);
    plugin.doc = checked_text(info.doc, "doc", where);
    plugin.author = checked_text(info.author, "author", where);
    plugin.license = checked_text(info.license, "license", where);
    plugin.url = checked_text(info.url, "url", where);
    plugin.abi_major = entry.abi_major;
    plugin.built_minor = entry.built_minor;
    plugin.min_host_minor = entry.min_host_minor;
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "plugin/file.h"

namespace soma::detail {

/// What a plugin's file says of itself before any of it runs.
struct ElfFacts {
    /// The first, frozen bytes of `soma_plugin_entry`.
    std::array<char, 32> entry{};
    /// Where the object will be, relative to the library.
    std::uint64_t entry_address = 0;
    /// Size of the whole object.
    std::size_t entry_size = 0;
    /// Text of the note `soma`: what libtorch it was linked against; nullopt when it has none.
    std::optional<std::string> fingerprint;
};

/// Looks at a file as an ELF shared library for this machine. Throws `PluginError` with the reason when it is none, is cut
/// short, or does not define `soma_plugin_entry`. Nothing of the file is trusted.
ElfFacts inspect_elf(const PluginFile& file);

} // namespace soma::detail

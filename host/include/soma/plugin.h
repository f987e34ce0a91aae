// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "soma/export.h"

struct soma_host;
struct soma_entry;

namespace soma {

/// A loaded plugin. Its library stays loaded while anything that came out of it lives: types, instances, values.
class SOMA_API Plugin {
public:
    virtual ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    std::filesystem::path path; ///< canonical; empty for one that is part of the program
    std::string name;
    std::string version;
    std::string doc;
    std::string author;
    std::string license;
    std::string url;
    unsigned abi_major = 0;
    unsigned built_minor = 0;
    unsigned min_host_minor = 0;
    /// Whether its code can reach libtorch other than through the host: it links it, or is part of the program.
    bool links_tensor_library = true;
    std::vector<std::string> types; ///< names, in the order registered

    /// What the plugin's calls identify themselves by. Valid as long as the plugin.
    [[nodiscard]] virtual soma_host* host() const noexcept = 0;

protected:
    Plugin() = default;
};

/// A file that was not loaded, and why.
struct Refusal {
    std::filesystem::path path;
    std::string reason; ///< one message: expected, got, the mend
};

} // namespace soma

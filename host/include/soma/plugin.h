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

    std::filesystem::path path;  ///< canonical; empty for one that is part of the program
    std::string name;            ///< As it calls itself.
    std::string version;         ///< Its own.
    std::string doc;             ///< One sentence.
    std::string author;          ///< May be empty.
    std::string license;         ///< An SPDX expression.
    std::string url;             ///< May be empty.
    unsigned abi_major = 0;      ///< Of the interface.
    unsigned built_minor = 0;    ///< Information only.
    unsigned min_host_minor = 0; ///< What it requires.
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
    std::filesystem::path path; ///< The file.
    std::string reason;         ///< one message: expected, got, the mend
};

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "soma/node_type.h"

namespace soma::detail {

/// Where a plugin's node types wait until all of it is known to be sound. Filled by `register_node`.
class Staging {
public:
    /// Checks the type and keeps a copy. A failure for one that is malformed (SOMA_INVALID_ARGUMENT) or that is here
    /// already (SOMA_ALREADY_EXISTS); the first such is kept: a plugin that passes over it is refused all the same.
    soma_status* add(const soma_node_type& type);

    /// What was wrong, if anything was.
    [[nodiscard]] std::optional<std::string> failure() const;
    /// The types, in the order registered; their `plugin` is still null. Leaves this empty.
    std::vector<NodeType> take();
    /// Names of all that were registered, sound or not.
    [[nodiscard]] std::vector<std::string> names() const;

private:
    mutable std::mutex mutex_;
    std::vector<NodeType> types_;
    std::vector<std::string> names_;
    std::optional<std::string> failure_;
};

/// Checks a node type as a plugin gives it and copies it. Throws `PluginError` that names the type and says what is wrong
/// with it, what was expected and what was there.
NodeType checked_type(const soma_node_type& type);

} // namespace soma::detail

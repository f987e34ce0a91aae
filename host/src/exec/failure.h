// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bound_node.h"
#include "postcondition.h"
#include "soma/abi.h"

namespace soma::exec {

/// Why a run stopped in one node.
struct Failure {
    std::uint64_t order = 0; ///< sorts failures as a sequential run would meet them
    std::uint32_t node = 0;
    bool cancelled = false;
    std::string message;
};

// The wordings. Each is one message for a person.

/// "node `encoder` failed: it declared `cuda:0` but returned a value on `cpu`" (at `[1].mask`).
std::string misplaced_message(const BoundNode& node, const Misplaced& misplaced);
/// A status that `forward` returned, with the plugin's name and, for a wrong device, `ctx.device`. Frees the status.
std::string status_message(const BoundNode& node, soma_status* status);
/// Anything else the node did wrong.
std::string wrong_message(const BoundNode& node, const std::string& what);
/// "one of `a`, `b` modified in place the value they share".
std::string modified_message(const std::vector<std::string>& readers);

} // namespace soma::exec

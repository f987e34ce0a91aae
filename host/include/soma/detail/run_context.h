// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "soma/abi.h"

namespace soma::detail {

/// What the host keeps behind the `soma_ctx` that a node is given. `ctx` is first, so that the host finds the rest from
/// the pointer that the plugin hands back. Filled by the executor; lives for one `forward`.
struct RunContext {
    soma_ctx ctx;
    /// Not 0 once the run was cancelled or its time is up; null when nothing can stop it.
    const std::atomic<std::uint32_t>* stop = nullptr;
    /// On the steady clock, in nanoseconds; 0 when there is none.
    std::int64_t deadline_ns = 0;
    /// Of the node that runs this run's pipeline; null when none does. What stops that node stops this one.
    const RunContext* outer = nullptr;
    /// `run_context_magic` while `forward` runs: tells a context of the host from a copy that a plugin made.
    std::uint64_t magic = 0;
};

inline constexpr std::uint64_t run_context_magic = 0x736f6d612d637478;

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "soma/detail/engine.h"

namespace soma::detail {

/// The process's engine: there is one tensor library in a process. With the one that was rejected, if any, this is the only
/// mutable state of the core.
extern std::atomic<const Engine*> accepted_engine;

/// `engine()` for what is called for every operator and value, without a call.
inline const Engine* engine_now() noexcept { return accepted_engine.load(std::memory_order_acquire); }

/// `require_engine()`, likewise.
inline const Engine& require_engine_now() {
    const Engine* const found = engine_now();
    return found != nullptr ? *found : require_engine();
}

} // namespace soma::detail

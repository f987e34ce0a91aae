// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "soma/abi.h"

/// What makes and frees handles tells a `HandleWatch` of it, through these. With nobody watching each is one load.
namespace soma::detail {

extern std::atomic<bool> handles_watched;

void watch_made(const soma_value* value, std::uint32_t kind) noexcept;
void watch_freed(const soma_value* value) noexcept;
void watch_made(const soma_status* status) noexcept;
void watch_freed(const soma_status* status) noexcept;

inline bool is_watched() noexcept { return handles_watched.load(std::memory_order_relaxed); }

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "soma/abi.h"

namespace soma::detail {

/// Whether a status was released before, as far as can still be told: that of the last few.
bool is_released(const soma_status* status) noexcept;

/// The one status that needs no memory.
soma_status* out_of_memory_status() noexcept;

} // namespace soma::detail

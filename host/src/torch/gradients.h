// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace soma::detail {

/// The table that the engine's extension `gradients_id` is; see soma/detail/gradients.h.
const void* engine_gradients() noexcept;

} // namespace soma::detail

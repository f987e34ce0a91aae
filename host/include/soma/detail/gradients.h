// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "soma/abi.h"

namespace soma::detail {

/// Gradients without libtorch's headers, for conformance checks. What the engine's `extension` gives for `gradients_id`;
/// no part of what plugins are promised.
struct Gradients {
    std::uint32_t struct_size;
    /// The gradients of the sum of `results[i] * weights[i]` by each tensor of `by`: `*out` is a list, with none where no
    /// gradient leads. `results`, `weights` (of the same sizes and dtypes) and `by` are lists of tensors.
    soma_status* (*of)(soma_value* results, soma_value* weights, soma_value* by, soma_value** out) noexcept;
};

inline constexpr const char* gradients_id = "soma.internal.gradients/1";

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "soma/detail/engine.h"

namespace soma::detail {

/// What the running node must not write to on this thread; null for nothing.
const Borrowed* borrowed() noexcept;

/// Throws `Failure` when writing to the tensor would change what a sibling reads, or memory that was lent read-only.
/// `writer` is told in the message: "`aten::add_`", "a writable DLPack export".
void check_writable(const at::Tensor& tensor, const char* writer);

/// A number that is equal for two tensors that share memory; 0 for a tensor without memory of its own kind.
std::uint64_t memory_of(const at::Tensor& tensor) noexcept;

/// Whether the tensor lies over memory that a plugin lent read-only.
bool lent_read_only(const at::Tensor& tensor) noexcept;

} // namespace soma::detail

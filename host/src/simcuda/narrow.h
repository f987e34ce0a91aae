// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace soma::simcuda {

/// Calls an operator with the CPU's kernel. Where that does not know half precision or bfloat16, as CUDA's kernels do,
/// it computes in float and rounds what comes out.
void call_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

} // namespace soma::simcuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace soma::simcuda {

/// Runs any operator on a simulated device with the CPU's kernel for it. Refuses tensors of several devices in
/// libtorch's words, and an operator that the CPU has no kernel for by name.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

} // namespace soma::simcuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace soma::simcuda {

/// Gives libtorch's dispatcher a kernel for every operator on a simulated device: some of our own, the CPU's for the
/// rest. Once.
void register_kernels();

} // namespace soma::simcuda

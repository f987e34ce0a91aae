// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "soma/device.h"
#include "soma/export.h"
#include "soma/placement.h"

namespace soma {

/// The devices of a kind that can be used on this machine now. Loads the tensor engine, except for `cpu`.
SOMA_API std::vector<Device> visible_devices(DeviceKind kind);

/// Throws one `PlacementError` that lists every node placed on a device that is not there, with how many devices of its
/// kind are visible and whether libtorch lacks the backend or the machine lacks the device.
SOMA_API void preflight(const Placement& placement);

/// Gives a CPU-only libtorch the devices `cuda:0` … `cuda:count-1`, simulated in host memory, for tests and trials. Call it
/// before libtorch is first used. Throws `EngineError` when it is too late, or when real CUDA is there.
SOMA_API void simulate_cuda(unsigned count);
/// How many devices are simulated; 0 when none.
SOMA_API unsigned simulated_cuda() noexcept;

/// Memory of a simulated device.
struct SimulatedMemory {
    std::uint64_t bytes = 0;       ///< now
    std::uint64_t peak_bytes = 0;  ///< most at once since the last reset
    std::uint64_t allocations = 0; ///< since the last reset
};
/// Of `cuda:device`; all zero when nothing is simulated. [any thread]
SOMA_API SimulatedMemory simulated_memory(unsigned device);
/// Starts `peak_bytes` and `allocations` anew, on every simulated device. [any thread]
SOMA_API void reset_simulated_memory();

} // namespace soma

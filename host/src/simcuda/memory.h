// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>

#include <cstddef>

/// A simulated device's memory is the host's, labelled with the device and counted there.
namespace soma::simcuda {

/// Allocates on the current simulated device.
c10::Allocator& device_allocator();

/// Allocates host memory that counts as pinned.
c10::Allocator& pinned_allocator();

/// Whether the address lies in memory from `pinned_allocator`.
bool is_pinned(const void* address);

/// The simulated device in whose memory the address lies, or -1.
c10::DeviceIndex device_of_address(const void* address);

/// Host memory as a device's memory: no copy. The result owns the memory and is counted until it goes.
c10::DataPtr adopt(c10::DataPtr host, std::size_t bytes, c10::DeviceIndex device);

/// A host storage's memory as a device storage: both share it, and the host storage lives as long.
c10::Storage adopt(const c10::Storage& host, c10::DeviceIndex device);

} // namespace soma::simcuda

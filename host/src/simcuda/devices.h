// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The simulated devices as numbers: how many there are, which one is current, what each holds. No libtorch.
namespace soma::simcuda {

inline constexpr std::uint32_t max_devices = 64;

/// 0 until the devices were started.
std::uint32_t device_count() noexcept;

/// Called once, by the start.
void set_device_count(std::uint32_t devices) noexcept;

/// Whether an index names a device that is there.
bool is_device(std::int64_t index) noexcept;

/// This thread's current device.
std::int8_t current_device() noexcept;

/// Sets this thread's current device, which must be there, and returns the one before.
std::int8_t exchange_current_device(std::int8_t index) noexcept;

/// This thread's current stream of a device that is there; 0 is the device's default one.
std::int64_t current_stream(std::int8_t device) noexcept;

/// Sets it, and returns the one before.
std::int64_t exchange_current_stream(std::int8_t device, std::int64_t stream) noexcept;

/// Another stream than the default one: a few in turn, as libtorch does it on hardware.
std::int64_t next_stream(std::int8_t device) noexcept;

/// Makes a device current for a scope.
class CurrentDevice {
public:
    explicit CurrentDevice(std::int8_t index) noexcept : before_(exchange_current_device(index)) {}
    ~CurrentDevice() { exchange_current_device(before_); }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    std::int8_t before_;
};

/// What a device holds, in bytes, and how often it was asked for some. Any thread.
struct Usage {
    std::uint64_t allocated = 0;
    std::uint64_t allocations = 0;
    std::uint64_t peak = 0;
};

void count_allocation(std::int8_t device, std::uint64_t bytes) noexcept;
void count_release(std::int8_t device, std::uint64_t bytes) noexcept;
Usage usage(std::uint32_t device) noexcept;
void reset_usage() noexcept;

} // namespace soma::simcuda

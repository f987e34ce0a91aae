// SPDX-License-Identifier: Apache-2.0
#include "simcuda/devices.h"

#include <array>
#include <atomic>
#include <utility>

namespace soma::simcuda {
namespace {

struct Counters {
    std::atomic<std::uint64_t> allocated{0};
    std::atomic<std::uint64_t> allocations{0};
    std::atomic<std::uint64_t> peak{0};
};

// libtorch knows one set of CUDA devices in a process, so there is one set here.
std::atomic<std::uint32_t> started_devices{0};
std::array<Counters, max_devices> counters;
thread_local std::int8_t current = 0;

constexpr std::uint32_t streams_in_turn = 32;
std::array<std::atomic<std::uint32_t>, max_devices> streams_given;
thread_local std::array<std::int64_t, max_devices> streams{};

} // namespace

std::uint32_t device_count() noexcept { return started_devices.load(std::memory_order_acquire); }

void set_device_count(std::uint32_t devices) noexcept { started_devices.store(devices, std::memory_order_release); }

bool is_device(std::int64_t index) noexcept { return index >= 0 && index < static_cast<std::int64_t>(device_count()); }

std::int8_t current_device() noexcept { return current; }

std::int8_t exchange_current_device(std::int8_t index) noexcept {
    const auto before = current;
    current = index;
    return before;
}

std::int64_t current_stream(std::int8_t device) noexcept { return streams[static_cast<std::size_t>(device)]; }

std::int64_t exchange_current_stream(std::int8_t device, std::int64_t stream) noexcept {
    return std::exchange(streams[static_cast<std::size_t>(device)], stream);
}

std::int64_t next_stream(std::int8_t device) noexcept {
    auto& given = streams_given[static_cast<std::size_t>(device)];
    return given.fetch_add(1, std::memory_order_relaxed) % streams_in_turn + 1;
}

void count_allocation(std::int8_t device, std::uint64_t bytes) noexcept {
    auto& of = counters[static_cast<std::size_t>(device)];
    of.allocations.fetch_add(1, std::memory_order_relaxed);
    const auto now = of.allocated.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    auto peak = of.peak.load(std::memory_order_relaxed);
    while (now > peak && !of.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
}

void count_release(std::int8_t device, std::uint64_t bytes) noexcept {
    counters[static_cast<std::size_t>(device)].allocated.fetch_sub(bytes, std::memory_order_relaxed);
}

Usage usage(std::uint32_t device) noexcept {
    if (device >= device_count()) {
        return {};
    }
    const auto& of = counters[device];
    return {of.allocated.load(std::memory_order_relaxed), of.allocations.load(std::memory_order_relaxed),
            of.peak.load(std::memory_order_relaxed)};
}

void reset_usage() noexcept {
    for (auto& of : counters) {
        of.allocations.store(0, std::memory_order_relaxed);
        of.peak.store(of.allocated.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

} // namespace soma::simcuda

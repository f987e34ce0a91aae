// SPDX-License-Identifier: Apache-2.0
#include "simcuda/devices.h"
#include "simcuda/kernels.h"
#include "simcuda/runtime.h"
#include "soma/detail/simcuda.h"

#include <exception>
#include <mutex>
#include <string>

namespace soma::simcuda {
namespace {

const char* start(std::uint32_t devices) noexcept {
    static std::mutex mutex;
    static std::string failure; // once libtorch was told, another try would find only traces of the first
    try {
        const std::lock_guard lock(mutex);
        if (devices < 1 || devices > max_devices) {
            return "1 to 64 devices can be simulated";
        }
        if (!failure.empty()) {
            return failure.c_str();
        }
        if (device_count() != 0) {
            return device_count() == devices ? nullptr
                                             : "simulated devices were started already, and another number of them; it "
                                               "cannot change in a process";
        }
        if (const char* const why = obstacle()) {
            return why;
        }
        set_device_count(devices);
        try {
            if (!announce_devices()) {
                failure = "simulated devices were asked for too late: libtorch has looked for CUDA devices and found "
                          "none; ask "
                          "before the first device count, seed or pinned tensor";
            } else {
                register_kernels();
            }
        } catch (const std::exception& error) {
            failure = std::string("libtorch did not take the simulated devices: ") + error.what();
        }
        if (!failure.empty()) {
            set_device_count(0);
            return failure.c_str();
        }
        return nullptr;
    } catch (...) {
        return "simulated devices could not be started: out of memory";
    }
}

constexpr soma_simcuda_api api = {
    sizeof(soma_simcuda_api),
    0,
    &start,
    [] { return device_count(); },
    [](std::uint32_t device) { return usage(device).allocated; },
    [](std::uint32_t device) { return usage(device).allocations; },
    [](std::uint32_t device) { return usage(device).peak; },
    [] { reset_usage(); },
};

} // namespace
} // namespace soma::simcuda

const soma_simcuda_api* soma_simcuda() { return &soma::simcuda::api; }

// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "core/libraries.h"
#include "soma/detail/simcuda.h"
#include "soma/error.h"
#include "soma/machine.h"

namespace soma {
namespace {

/// The library once it is loaded: simulated devices belong to the process, as libtorch does.
std::atomic<const soma_simcuda_api*> loaded{nullptr};

const soma_simcuda_api& load() {
    static std::mutex loading;
    const std::lock_guard guard(loading);
    if (const soma_simcuda_api* api = loaded.load(std::memory_order_acquire)) return *api;
    std::string why;
    void* library = detail::load_own_library("libsomatize-simcuda.so", why);
    if (library == nullptr) {
        throw EngineError(fmt::format("simulated devices are wanted, but their library cannot be loaded ({})", why));
    }
    const auto get = reinterpret_cast<soma_simcuda_fn>(detail::find_symbol(library, "soma_simcuda"));
    const soma_simcuda_api* api = get == nullptr ? nullptr : get();
    if (api == nullptr || api->struct_size < sizeof(soma_simcuda_api)) {
        throw EngineError("libsomatize-simcuda.so does not belong to this somatize: install both from one release");
    }
    loaded.store(api, std::memory_order_release);
    return *api;
}

} // namespace

void simulate_cuda(unsigned count) {
    if (const char* why = load().start(count)) {
        throw EngineError(fmt::format("cannot simulate {} `cuda` devices: {}", count, why));
    }
}

unsigned simulated_cuda() noexcept {
    const soma_simcuda_api* api = loaded.load(std::memory_order_acquire);
    return api == nullptr ? 0 : api->devices();
}

SimulatedMemory simulated_memory(unsigned device) {
    const soma_simcuda_api* api = loaded.load(std::memory_order_acquire);
    if (device >= simulated_cuda()) {
        throw DeviceError(fmt::format("`cuda:{}` is not simulated: {} devices are", device, simulated_cuda()));
    }
    return {api->allocated_bytes(device), api->peak_bytes(device), api->allocations(device)};
}

void reset_simulated_memory() {
    if (const soma_simcuda_api* api = loaded.load(std::memory_order_acquire)) api->reset_counters();
}

} // namespace soma

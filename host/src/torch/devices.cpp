// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <dlfcn.h>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "engine_table.h"
#include "places.h"

namespace soma::detail {

namespace {

bool has_devices_of_its_own(soma_place place) noexcept {
    return place.kind != SOMA_DEVICE_NONE && place.kind != SOMA_DEVICE_CPU && place.kind != SOMA_DEVICE_META;
}

// libtorch keeps the cudaStream_t behind its id for a stream, in a library that this one is not linked to: it may be
// there or not, and its headers want CUDA's.
void* cuda_stream(const c10::Stream& stream) {
    using Unwrap = void* (*)(const c10::Stream*);
    // c10::cuda::CUDAStream::stream() const; a CUDAStream is one c10::Stream.
    static const auto unwrap = reinterpret_cast<Unwrap>(dlsym(RTLD_DEFAULT, "_ZNK3c104cuda10CUDAStream6streamEv"));
    return unwrap != nullptr ? unwrap(&stream) : nullptr;
}

// Other devices, on a libtorch that can be asked.
template <typename Guard>
void* native_stream(const Guard& guard, const c10::Stream& stream) {
    if constexpr (requires { guard.getStreamNativeHandle(stream); }) {
        return guard.getStreamNativeHandle(stream);
    } else {
        return nullptr;
    }
}

} // namespace

const c10::impl::DeviceGuardImplInterface* guard_of(c10::DeviceType type) noexcept {
    return c10::impl::device_guard_impl_registry[static_cast<std::size_t>(type)].load();
}

std::uint32_t engine_device_count(std::int32_t kind) noexcept {
    if (kind == SOMA_DEVICE_CPU || kind == SOMA_DEVICE_META) return 1;
    const auto device = to_device({kind, 0});
    if (!device || kind == SOMA_DEVICE_OTHER) return 0;
    const auto* guard = guard_of(device->type());
    return guard != nullptr ? static_cast<std::uint32_t>(guard->deviceCount()) : 0;
}

bool engine_has_backend(std::int32_t kind) noexcept {
    if (kind == SOMA_DEVICE_CPU || kind == SOMA_DEVICE_META) return true;
    const auto device = to_device({kind, 0});
    return device && kind != SOMA_DEVICE_OTHER && guard_of(device->type()) != nullptr;
}

std::int32_t engine_exchange_device(soma_place place) noexcept {
    if (!has_devices_of_its_own(place)) return 0;
    const auto device = to_device(place);
    const auto* guard = device ? guard_of(device->type()) : nullptr;
    if (guard == nullptr) return 0;
    try {
        return guard->exchangeDevice(*device).index();
    } catch (...) {
        return 0;
    }
}

void* engine_stream(soma_place place) noexcept {
    if (!has_devices_of_its_own(place)) return nullptr;
    const auto device = to_device(place);
    const auto* guard = device ? guard_of(device->type()) : nullptr;
    if (guard == nullptr) return nullptr;
    try {
        const c10::Stream stream = guard->getStream(*device);
        return place.kind == SOMA_DEVICE_CUDA ? cuda_stream(stream) : native_stream(*guard, stream);
    } catch (...) {
        return nullptr;
    }
}

void engine_synchronize(soma_place place) noexcept {
    if (!has_devices_of_its_own(place)) return;
    const auto device = to_device(place);
    const auto* guard = device ? guard_of(device->type()) : nullptr;
    if (guard == nullptr) return;
    try {
        guard->synchronizeStream(guard->getStream(*device));
    } catch (...) {
        // What the device failed at shows in whoever uses it next; there is nobody to tell here.
    }
}

} // namespace soma::detail

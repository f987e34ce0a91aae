// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include <c10/util/Exception.h>

#include "soma/device.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

constexpr int packed_index_bits = 16;

// OTHER: the device type in the upper half; below it the index plus one, so that "no index" has a number too.
std::int32_t pack(c10::Device device) noexcept {
    return (static_cast<std::int32_t>(device.type()) << packed_index_bits) | (device.index() + 1);
}

std::optional<c10::Device> unpack(std::int32_t packed) noexcept {
    const std::int32_t type = packed >> packed_index_bits;
    const std::int32_t index = (packed & ((1 << packed_index_bits) - 1)) - 1;
    if (type < 0 || type >= static_cast<std::int32_t>(c10::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES)) {
        return std::nullopt;
    }
    return c10::Device(static_cast<c10::DeviceType>(type), static_cast<c10::DeviceIndex>(index));
}

std::string write(soma_place place) {
    const std::optional<c10::Device> device = to_device(place);
    if (!device) return "nowhere";
    // What libtorch prints, except that it prints "mps:0" where the name to declare is "mps".
    return place.kind == SOMA_DEVICE_MPS ? "mps" : device->str();
}

// Texts that were asked for once stay for ever: they are handed out.
const char* intern(soma_place place) {
    static std::mutex mutex;
    static auto& names = *std::make_unique<std::map<std::pair<std::int32_t, std::int32_t>, std::string>>().release();
    const std::lock_guard lock(mutex);
    const auto [entry, inserted] = names.try_emplace({place.kind, place.index});
    if (inserted) entry->second = write(place);
    return entry->second.c_str();
}

} // namespace

soma_place to_place(c10::Device device) noexcept {
    const std::int32_t index = device.has_index() ? device.index() : 0;
    switch (device.type()) {
    case c10::DeviceType::CPU: return {SOMA_DEVICE_CPU, 0};
    case c10::DeviceType::CUDA: return {SOMA_DEVICE_CUDA, index};
    case c10::DeviceType::Meta: return {SOMA_DEVICE_META, 0};
    case c10::DeviceType::XPU: return {SOMA_DEVICE_XPU, index};
    case c10::DeviceType::MPS: return {SOMA_DEVICE_MPS, 0};
    case c10::DeviceType::HPU: return {SOMA_DEVICE_HPU, index};
    default: return {SOMA_DEVICE_OTHER, pack(device)};
    }
}

std::optional<c10::Device> to_device(soma_place place) noexcept {
    constexpr std::int32_t last_index = 127;
    if (place.kind == SOMA_DEVICE_OTHER) return unpack(place.index);
    if (place.index < 0 || place.index > last_index) return std::nullopt;
    const auto index = static_cast<c10::DeviceIndex>(place.index);
    switch (place.kind) {
    case SOMA_DEVICE_CPU: return c10::Device(c10::DeviceType::CPU);
    case SOMA_DEVICE_CUDA: return c10::Device(c10::DeviceType::CUDA, index);
    case SOMA_DEVICE_META: return c10::Device(c10::DeviceType::Meta);
    case SOMA_DEVICE_XPU: return c10::Device(c10::DeviceType::XPU, index);
    case SOMA_DEVICE_MPS: return c10::Device(c10::DeviceType::MPS, 0);
    case SOMA_DEVICE_HPU: return c10::Device(c10::DeviceType::HPU, index);
    default: return std::nullopt;
    }
}

std::string_view place_name(soma_place place) {
    // The ones that nearly every tensor is on need no lock.
    static constexpr std::size_t near_count = 16;
    static std::array<std::atomic<const char*>, near_count> cuda_names{};
    switch (place.kind) {
    case SOMA_DEVICE_CPU: return "cpu";
    case SOMA_DEVICE_META: return "meta";
    case SOMA_DEVICE_CUDA:
        if (place.index >= 0 && static_cast<std::size_t>(place.index) < near_count) {
            std::atomic<const char*>& name = cuda_names[static_cast<std::size_t>(place.index)];
            const char* text = name.load(std::memory_order_acquire);
            if (text == nullptr) {
                text = intern(place);
                name.store(text, std::memory_order_release);
            }
            return text;
        }
        return intern(place);
    default: return intern(place);
    }
}

c10::Device parse_device(std::string_view text) {
    if (text == "cpu") return c10::Device(c10::DeviceType::CPU);
    try {
        return *to_device(Device::parse(text).place());
    } catch (const DeviceError&) {
        // A tensor may be where nothing can be declared to run, and what it says of itself must be understood.
        try {
            const c10::Device device{std::string(text)};
            if (to_place(device).kind == SOMA_DEVICE_OTHER) return device;
        } catch (const c10::Error&) {
        }
        throw;
    }
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "simcuda/runtime.h"

#include "simcuda/devices.h"
#include "simcuda/generator.h"
#include "simcuda/immortal.h"
#include "simcuda/memory.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/autograd/engine.h>

#include <link.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>

namespace soma::simcuda {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using c10::Stream;

void check_device(std::int64_t index) { TORCH_CHECK(is_device(index), "CUDA error: invalid device ordinal"); }

/// The device's index; without one, the current device's.
std::int8_t index_of(Device device) noexcept {
    return device.index() < 0 ? current_device() : static_cast<std::int8_t>(device.index());
}

/// 0 is the default stream.
Stream stream_of(Device device, std::int64_t id) noexcept {
    return Stream(Stream::UNSAFE, Device(DeviceType::CUDA, index_of(device)), id);
}

// libtorch's two base classes below differ between its versions: functions come, go, and change a parameter's type or
// their `noexcept`. Where a base class has a function, it is overridden by what is here, so none says `override`.

/// Which device is current, and streams and events. A stream is only a number: it has always done all its work.
class DeviceGuard final : public c10::impl::DeviceGuardImplInterface {
public:
    DeviceType type() const { return DeviceType::CUDA; }

    Device exchangeDevice(Device device) const {
        const auto before = getDevice();
        setDevice(device);
        return before;
    }
    Device getDevice() const { return Device(DeviceType::CUDA, current_device()); }
    void setDevice(Device device) const {
        TORCH_INTERNAL_ASSERT(device.is_cuda());
        check_device(device.index());
        exchange_current_device(device.index());
    }
    void uncheckedSetDevice(Device device) const noexcept {
        if (is_device(device.index())) {
            exchange_current_device(device.index());
        }
    }
    DeviceIndex deviceCount() const noexcept { return static_cast<DeviceIndex>(device_count()); }
    void synchronizeDevice(const DeviceIndex) const {}

    Stream getStream(Device device) const noexcept { return stream_of(device, current_stream(index_of(device))); }
    Stream getDefaultStream(Device device) const { return stream_of(device, 0); }
    Stream getStreamFromGlobalPool(Device device, bool = false) const {
        return stream_of(device, next_stream(index_of(device)));
    }
    Stream getNewStream(Device device, int = 0) const { return getStreamFromGlobalPool(device); }
    Stream exchangeStream(Stream stream) const noexcept {
        const auto device = stream.device();
        return stream_of(device, exchange_current_stream(index_of(device), stream.id()));
    }
    void* getStreamNativeHandle(const Stream) const { return nullptr; }
    bool queryStream(const Stream&) const { return true; }
    void synchronizeStream(const Stream&) const {}
    void recordDataPtrOnStream(const c10::DataPtr&, const Stream&) const {}

    // An event is the time at which it was recorded, kept where a handle would be.
    void record(void** event, const Stream&, const DeviceIndex, const c10::EventFlag) const {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        *event = reinterpret_cast<void*>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    }
    void block(void*, const Stream&) const {}
    bool queryEvent(void*) const { return true; }
    void synchronizeEvent(void*) const {}
    void destroyEvent(void*, const DeviceIndex) const noexcept {}
    double elapsedTime(void* first, void* second, const DeviceIndex) const {
        const std::chrono::nanoseconds elapsed(reinterpret_cast<std::intptr_t>(second) -
                                               reinterpret_cast<std::intptr_t>(first));
        return std::chrono::duration<double, std::milli>(elapsed).count();
    }
};

/// What libtorch asks about CUDA. What is not here, cuDNN, MAGMA and their like, is absent by default.
class Hooks final : public at::CUDAHooksInterface {
public:
    void initCUDA() const {}
    void init() const {}
    bool hasCUDA() const { return true; }
    bool isBuilt() const { return true; }
    bool isAvailable() const { return true; }
    bool hasPrimaryContext(std::int64_t index) const { return is_device(index); }
    bool hasPrimaryContext(DeviceIndex index) const { return is_device(index); }
    int getNumGPUs() const { return static_cast<int>(device_count()); }
    // A negative index is the current device, as it is to libtorch.
    void deviceSynchronize(std::int64_t index) const {
        if (index >= 0) check_device(index);
    }
    void deviceSynchronize(DeviceIndex index) const { deviceSynchronize(std::int64_t{index}); }
    std::string showConfig() const { return "simulated CUDA devices, on the CPU"; }

    DeviceIndex deviceCount() const { return static_cast<DeviceIndex>(device_count()); }
    auto current_device() const -> decltype(std::declval<const at::CUDAHooksInterface&>().current_device()) {
        return simcuda::current_device();
    }
    DeviceIndex getCurrentDevice() const { return simcuda::current_device(); }
    void setCurrentDevice(DeviceIndex index) const { exchangeDevice(index); }
    DeviceIndex exchangeDevice(DeviceIndex index) const {
        check_device(index);
        return exchange_current_device(index);
    }
    DeviceIndex maybeExchangeDevice(DeviceIndex index) const {
        return is_device(index) ? exchange_current_device(index) : simcuda::current_device();
    }

    const at::Generator& getDefaultCUDAGenerator(DeviceIndex index = -1) const { return default_generator(index); }
    const at::Generator& getDefaultGenerator(DeviceIndex index = -1) const { return default_generator(index); }
    at::Generator getNewGenerator(DeviceIndex index = -1) const { return new_generator(index); }

    Device getDeviceFromPtr(void* address) const {
        const auto index = device_of_address(address);
        TORCH_CHECK(index >= 0,
                    "The specified pointer resides on host memory and is not registered with any CUDA device.");
        return Device(DeviceType::CUDA, index);
    }
    bool isPinnedPtr(void* address) const { return is_pinned(address); }
    bool isPinnedPtr(const void* address) const { return is_pinned(address); }
    c10::Allocator* getPinnedMemoryAllocator() const { return &pinned_allocator(); }
    c10::Allocator* getCUDADeviceAllocator() const { return &device_allocator(); }
};

/// Autograd's engine makes a thread for each device on the first backward, and never looks again.
struct EngineState : torch::autograd::Engine {
    static bool has_threads() {
        return torch::autograd::Engine::get_default_engine().*(&EngineState::thread_pool_shared_) != nullptr;
    }
};

bool library_is_loaded(std::string_view stem) {
    const auto named_so = [](dl_phdr_info* info, std::size_t, void* wanted) {
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        const std::string_view name = slash != nullptr ? slash + 1 : info->dlpi_name;
        return static_cast<int>(name.starts_with(*static_cast<std::string_view*>(wanted)));
    };
    return dl_iterate_phdr(named_so, &stem) != 0;
}

} // namespace

const char* obstacle() {
    if (library_is_loaded("libtorch_cuda") || library_is_loaded("libtorch_hip")) {
        return "this libtorch was built with real CUDA; devices are simulated on a CPU-only libtorch";
    }
    if (c10::impl::hasDeviceGuardImpl(DeviceType::CUDA)) {
        return "something in this process has given libtorch CUDA devices already";
    }
    if (at::CUDAHooksRegistry()->Has("CUDAHooks")) {
        return "something in this process has told libtorch about CUDA already";
    }
    if (EngineState::has_threads()) {
        return "simulated devices were asked for too late: libtorch has run a backward, and autograd has no threads "
               "for "
               "them; ask before the first backward";
    }
    return nullptr;
}

bool announce_devices() {
    at::CUDAHooksRegistry()->Register("CUDAHooks", [](at::CUDAHooksArgs) -> std::unique_ptr<at::CUDAHooksInterface> {
        return std::make_unique<Hooks>();
    });
    // libtorch makes its hooks once, when it first needs them. These are not ours when that has been.
    if (!at::detail::getCUDAHooks().hasCUDA()) {
        return false;
    }
    static Immortal<DeviceGuard> guard;
    static const c10::impl::DeviceGuardImplRegistrar registrar(DeviceType::CUDA, &*guard);
    c10::SetAllocator(DeviceType::CUDA, &device_allocator());
    return true;
}

} // namespace soma::simcuda

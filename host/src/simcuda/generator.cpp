// SPDX-License-Identifier: Apache-2.0
#include "simcuda/generator.h"

#include "simcuda/devices.h"
#include "simcuda/immortal.h"

#include <ATen/CPUGeneratorImpl.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace soma::simcuda {

SimulatedGenerator::SimulatedGenerator(c10::DeviceIndex device)
    : SimulatedGenerator(device, at::detail::createCPUGenerator()) {}

SimulatedGenerator::SimulatedGenerator(c10::DeviceIndex device, at::Generator host)
    : c10::GeneratorImpl(c10::Device(c10::DeviceType::CUDA, device), c10::DispatchKeySet(c10::DispatchKey::CUDA)),
      host_(std::move(host)) {}

// libtorch holds this generator's mutex when it calls these; the CPU's kernels hold the host generator's.

void SimulatedGenerator::set_current_seed(std::uint64_t seed) {
    const std::lock_guard lock(host_.mutex());
    host_.set_current_seed(seed);
}

std::uint64_t SimulatedGenerator::current_seed() const {
    const std::lock_guard lock(host_.mutex());
    return host_.current_seed();
}

std::uint64_t SimulatedGenerator::seed() {
    const std::lock_guard lock(host_.mutex());
    return host_.seed();
}

void SimulatedGenerator::set_state(const c10::TensorImpl& state) {
    const std::lock_guard lock(host_.mutex());
    host_.unsafeGetGeneratorImpl()->set_state(state);
}

c10::intrusive_ptr<c10::TensorImpl> SimulatedGenerator::get_state() const {
    const std::lock_guard lock(host_.mutex());
    return host_.unsafeGetGeneratorImpl()->get_state();
}

void SimulatedGenerator::set_offset(std::uint64_t) {
    TORCH_CHECK(false, "a simulated ", device(), " draws as the CPU does, and its generator has no offset");
}

std::uint64_t SimulatedGenerator::get_offset() const {
    TORCH_CHECK(false, "a simulated ", device(), " draws as the CPU does, and its generator has no offset");
}

SimulatedGenerator* SimulatedGenerator::clone_impl() const {
    const std::lock_guard lock(host_.mutex());
    return std::make_unique<SimulatedGenerator>(device().index(), host_.clone()).release();
}

at::Generator new_generator(c10::DeviceIndex device) {
    return at::make_generator<SimulatedGenerator>(device < 0 ? current_device() : device);
}

const at::Generator& default_generator(c10::DeviceIndex device) {
    static Immortal<std::vector<at::Generator>> all([] {
        std::vector<at::Generator> made;
        for (std::uint32_t index = 0; index < device_count(); ++index) {
            made.push_back(new_generator(static_cast<c10::DeviceIndex>(index)));
        }
        return made;
    }());
    const auto index = device < 0 ? current_device() : device;
    TORCH_CHECK(is_device(index), "CUDA error: invalid device ordinal");
    return (*all)[static_cast<std::size_t>(index)];
}

at::Generator host_generator(const at::Generator& given, c10::DeviceIndex device) {
    const auto& generator = given.defined() ? given : default_generator(device);
    TORCH_CHECK(generator.device().is_cuda(), "Expected a 'cuda' device type for generator but found '",
                generator.device().type(), "'");
    return static_cast<SimulatedGenerator*>(generator.unsafeGetGeneratorImpl())->host();
}

} // namespace soma::simcuda

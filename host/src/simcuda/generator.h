// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>

namespace soma::simcuda {

/// A generator of a simulated device: a host generator that says it lives there. The numbers are the host generator's,
/// so a seed gives on a simulated device what it gives on the CPU.
class SimulatedGenerator final : public c10::GeneratorImpl {
public:
    explicit SimulatedGenerator(c10::DeviceIndex device);
    SimulatedGenerator(c10::DeviceIndex device, at::Generator host);

    /// The generator that the CPU's kernels draw from.
    const at::Generator& host() const noexcept { return host_; }

    void set_current_seed(std::uint64_t seed) override;
    std::uint64_t current_seed() const override;
    std::uint64_t seed() override;
    void set_state(const c10::TensorImpl& state) override;
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

    // Not in libtorch's base class before 2.0, so without `override`.
    void set_offset(std::uint64_t offset);
    std::uint64_t get_offset() const;

private:
    SimulatedGenerator* clone_impl() const override;

    mutable at::Generator host_;
};

/// A new generator of a simulated device, with libtorch's default seed.
at::Generator new_generator(c10::DeviceIndex device);

/// The generator that draws where none is given; -1 is the current device.
const at::Generator& default_generator(c10::DeviceIndex device);

/// The generator that a CPU kernel is to draw from, for one given to an operator on a simulated device, or for the
/// device's default one when none was given. Refuses a generator of another kind of device in libtorch's words.
at::Generator host_generator(const at::Generator& given, c10::DeviceIndex device);

} // namespace soma::simcuda

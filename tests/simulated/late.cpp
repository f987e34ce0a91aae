// SPDX-License-Identifier: Apache-2.0
//
// Does one thing with libtorch, then asks for simulated devices and prints why there are none, or `started`. Some of
// what libtorch can have done before ends a process, so the tests run this one.
#include "soma/detail/simcuda.h"

#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/cuda.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace {

/// A device guard as real CUDA would have, as far as anyone asks.
using OtherGuard = c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>;

void backward() {
    const auto leaf = at::ones({2}).requires_grad_();
    (leaf * 2).sum().backward();
}

void tensor_operators() {
    const auto made = at::ones({3, 4}).matmul(at::ones({4, 2}));
    if (made.sum().item<float>() != 24) std::abort();
}

const std::map<std::string, std::function<void()>> things = {
    {"nothing", [] {}},
    {"tensor operators", tensor_operators},
    {"device count", [] { torch::cuda::device_count(); }},
    {"is available", [] { torch::cuda::is_available(); }},
    {"seed", [] { at::manual_seed(1); }},
    {"backward", backward},
    {"guard",
     [] {
         static OtherGuard guard;
         static const c10::impl::DeviceGuardImplRegistrar registrar(c10::DeviceType::CUDA, &guard);
     }},
    {"hooks",
     [] {
         at::CUDAHooksRegistry()->Register("CUDAHooks",
                                           [](at::CUDAHooksArgs) { return std::unique_ptr<at::CUDAHooksInterface>(); });
     }},
    {"library", [] {
         if (dlopen(SOMA_FAKE_CUDA_LIBRARY, RTLD_NOW) == nullptr) std::abort();
     }}};

const char* or_started(const char* why) { return why == nullptr ? "started" : why; }

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const auto* const api = soma_simcuda();
    things.at(argv[1])();
    for (int at = 2; at < argc; ++at) {
        std::printf("%s\n", or_started(api->start(static_cast<std::uint32_t>(std::atoi(argv[at])))));
    }
    if (api->devices() != 0) {
        // What was started is there, whatever was done before.
        const auto leaf = at::ones({2}, c10::Device("cuda:0")).requires_grad_();
        (leaf * 2).sum().backward();
        if (leaf.grad().device() != leaf.device() ||
            static_cast<std::uint32_t>(torch::cuda::device_count()) != api->devices())
            return 3;
    } else {
        // And without, libtorch works as before.
        if (std::string(argv[1]) != "guard" && std::string(argv[1]) != "hooks") backward();
        tensor_operators();
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <fmt/format.h>

#include "compat.h"
#include "dtype.h"
#include "engine_table.h"
#include "failure.h"
#include "places.h"
#include "values.h"

namespace soma::detail {

namespace {

c10::Device target(soma_place place) {
    const auto device = to_device(place);
    if (!device) throw Failure(SOMA_INVALID_ARGUMENT, "there is nowhere to move a tensor to: the place is none");
    return *device;
}

void check_tensor(const soma_value* value) {
    if (kind_of(value) != SOMA_KIND_TENSOR) {
        throw Failure(SOMA_TYPE_MISMATCH,
                      fmt::format("only a tensor can be moved, got {}", kind_with_article(kind_of(value))));
    }
}

[[noreturn]] void refuse_from_meta(soma_place place) {
    throw Failure(
        SOMA_FAILED_PRECONDITION,
        fmt::format("a tensor on `meta` holds no data that could move to `{}`; make it there in the first place",
                    place_name(place)));
}

#if SOMA_TORCH_AT_LEAST(2, 0)
void check_copied(const at::Tensor&, c10::Device) {}
#else
// It would say that the numbers of elements differ.
void check_copied(const at::Tensor& tensor, c10::Device device) {
    const c10::Layout layout = tensor.layout();
    if (layout != c10::kSparseCsc && layout != c10::kSparseBsr && layout != c10::kSparseBsc) return;
    throw Failure(SOMA_UNIMPLEMENTED,
                  fmt::format("a tensor of layout `{}` cannot move to `{}`: libtorch 1.13 copies no compressed sparse "
                              "layout but `sparse_csr`; convert it to that one or to a dense tensor first",
                              layout_name(static_cast<int>(layout)), device.str()));
}
#endif

at::Tensor move(const at::Tensor& tensor, c10::Device device) {
    check_copied(tensor, device);
    return tensor.to(device, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/false);
}

// As torch::nn::Module::to does it: the tensor object stays and gets other memory, so whoever holds it sees the move.
void move_in_place(const at::Tensor& tensor, soma_place place) {
    const soma_place from = to_place(tensor.device());
    if (same_place(from, place)) return;
    if (from.kind == SOMA_DEVICE_META) refuse_from_meta(place);
    if (place.kind == SOMA_DEVICE_META) {
        throw Failure(SOMA_FAILED_PRECONDITION,
                      fmt::format("a tensor on `{}` cannot move to `meta` in place: its data would be lost; run a copy "
                                  "with parameters on `meta` instead",
                                  place_name(from)));
    }
    if (!tensor.is_leaf()) {
        throw Failure(SOMA_FAILED_PRECONDITION,
                      "only a parameter or buffer moves in place; this tensor is the result of an operation, whose "
                      "gradient would be lost: move it with `value_to`");
    }
    const c10::Device device = target(place);
    const c10::AutoGradMode no_grad(false);
    // Memory made under inference mode would not do for a tensor that was not, and the other way round.
    const c10::InferenceMode inference(tensor.is_inference());
    const at::Tensor moved = move(tensor.variable_data(), device);
    at::Tensor grad = tensor.grad();
    const at::Tensor moved_grad = grad.defined() ? move(grad.variable_data(), device) : at::Tensor();
    tensor.set_data(moved);
    if (grad.defined()) grad.set_data(moved_grad);
    // A graph that saved the tensor where it was must notice before it computes with it.
    if (!tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
}

at::Tensor on_meta(const at::Tensor& tensor) {
    const c10::InferenceMode inference(false);
    const c10::AutoGradMode no_grad(false);
    const c10::Device device(c10::DeviceType::Meta);
    at::Tensor copy = tensor.layout() == c10::kStrided && !tensor.is_quantized()
                          ? at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(device))
                          : tensor.detach().to(device);
    copy.set_requires_grad(tensor.requires_grad());
    return copy;
}

at::Generator make_generator(soma_place place, std::uint64_t seed) {
    const c10::Device device = target(place);
    // Kernels on meta draw no numbers and take any generator, while libtorch has none for it.
    if (device.is_cpu() || device.is_meta()) return at::make_generator<at::CPUGeneratorImpl>(seed);
    at::Generator shared = at::globalContext().defaultGenerator(device);
    at::Generator own;
    {
        const std::lock_guard lock(shared.mutex());
        own = shared.clone();
    }
    own.set_current_seed(seed);
    return own;
}

} // namespace

soma_status* engine_to(soma_value* tensor, soma_place place, soma_value** out) noexcept {
    return guarded([&] {
        check_tensor(tensor);
        const soma_place from = to_place(tensor_of(tensor).device());
        if (same_place(from, place)) {
            retain(tensor);
            *out = tensor;
            return;
        }
        const c10::Device device = target(place);
        if (from.kind == SOMA_DEVICE_META) refuse_from_meta(place);
        *out = give(move(tensor_of(tensor), device));
    });
}

soma_status* engine_state_to(soma_value* tensor, soma_place place) noexcept {
    return guarded([&] {
        check_tensor(tensor);
        move_in_place(tensor_of(tensor), place);
    });
}

soma_status* engine_to_meta(soma_value* tensor, soma_value** out) noexcept {
    return guarded([&] {
        check_tensor(tensor);
        *out = give(on_meta(tensor_of(tensor)));
    });
}

soma_status* engine_generator(soma_place place, std::uint64_t seed, soma_value** out) noexcept {
    return guarded([&] {
        *out = make_engine_value(SOMA_KIND_GENERATOR, make_generator(place, seed).unsafeReleaseGeneratorImpl());
    });
}

} // namespace soma::detail

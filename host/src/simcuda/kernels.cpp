// SPDX-License-Identifier: Apache-2.0
#include "simcuda/kernels.h"

#include "simcuda/compat.h"
#include "simcuda/devices.h"
#include "simcuda/fallback.h"
#include "simcuda/immortal.h"
#include "simcuda/memory.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <torch/library.h>

#if __has_include(<ATen/native/transformers/attention.h>)
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#endif

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace soma::simcuda {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;

const DispatchKeySet dense_keys(DispatchKey::CUDA);

// --- Making tensors ---

c10::DeviceIndex checked_index(Optional<c10::Device> device) {
    const auto index = device.has_value() && device->has_index() ? device->index() : current_device();
    TORCH_CHECK(is_device(index), "CUDA error: invalid device ordinal");
    return index;
}

void check_options(Optional<c10::Layout> layout, Optional<bool> pin_memory) {
    TORCH_CHECK(c10::layout_or_default(layout) == c10::kStrided, "expected a strided tensor");
    TORCH_CHECK(!c10::pinned_memory_or_default(pin_memory), "Only dense CPU tensors can be pinned");
}

Tensor empty(c10::IntArrayRef size, Optional<c10::ScalarType> dtype, Optional<c10::Layout> layout,
             Optional<c10::Device> device, Optional<bool> pin_memory, Optional<c10::MemoryFormat> format) {
    check_options(layout, pin_memory);
    const CurrentDevice current(checked_index(device));
    return at::detail::empty_generic(size, &device_allocator(), dense_keys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, Optional<c10::ScalarType> dtype,
                     Optional<c10::Layout> layout, Optional<c10::Device> device, Optional<bool> pin_memory) {
    check_options(layout, pin_memory);
    const CurrentDevice current(checked_index(device));
    return at::detail::empty_strided_generic(size, stride, &device_allocator(), dense_keys,
                                             c10::dtype_or_default(dtype));
}

/// Zeros that take no memory; autograd has them stand for gradients that are not there.
Tensor efficient_zeros(c10::IntArrayRef size, Optional<c10::ScalarType> dtype, Optional<c10::Layout> layout,
                       Optional<c10::Device> device, Optional<bool> pin_memory) {
    check_options(layout, pin_memory);
    const auto index = checked_index(device);
    const auto type = c10::scalarTypeToTypeMeta(c10::dtype_or_default(dtype));
    std::size_t bytes = type.itemsize();
    for (const auto length : size) {
        bytes *= static_cast<std::size_t>(length);
    }
    c10::Storage storage(c10::Storage::use_byte_size_t(), bytes,
                         c10::DataPtr(nullptr, c10::Device(c10::DeviceType::CUDA, index)), &device_allocator(), false);
    auto zeros =
        at::detail::make_tensor<c10::TensorImpl>(std::move(storage), dense_keys.add(DispatchKey::ZeroTensor), type);
    zeros.unsafeGetTensorImpl()->set_sizes_contiguous(size);
    return zeros;
}

// --- Storage ---

Tensor& set_storage_strided(Tensor& self, c10::Storage source, std::int64_t offset, c10::IntArrayRef size,
                            c10::IntArrayRef stride) {
    TORCH_CHECK(source.device() == self.device(), "Attempted to set the storage of a tensor on device \"",
                self.device(), "\" to a storage on different device \"", source.device(),
                "\".  This is no longer allowed; the devices must match.");
    auto* const impl = self.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(std::move(source));
    impl->set_storage_offset(offset);
    if (stride.data() == nullptr) {
        impl->set_sizes_contiguous(size);
    } else {
        impl->set_sizes_and_strides(size, stride);
    }
    return self;
}

Tensor& set_storage(Tensor& self, c10::Storage source) {
    const auto length = static_cast<std::int64_t>(source.nbytes() / self.dtype().itemsize());
    return set_storage_strided(self, std::move(source), 0, length, {});
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
    return self.is_same(source)
               ? self
               : set_storage_strided(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

Tensor& set_nothing(Tensor& self) {
    const auto type = self.scalar_type();
    const CurrentDevice current(self.device().index());
    const Tensor none = at::detail::empty_generic({0}, &device_allocator(), dense_keys, type, {});
    return set_tensor(self, none);
}

Tensor copy_from(const Tensor& self, const Tensor& to, bool non_blocking) {
    Tensor written = to;
    written.copy_(self, non_blocking);
    return written;
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& to) {
    Tensor written = to;
    written.resize_(self.sizes());
    written.copy_(self);
    return written;
}

// --- Pinned memory ---

bool is_pinned_tensor(const Tensor& self, Optional<c10::Device>) {
    return self.is_cpu() && self.has_storage() && is_pinned(self.storage().data_ptr().get());
}

Tensor pin_tensor(const Tensor& self, Optional<c10::Device>) {
    TORCH_CHECK(self.is_cpu(), "cannot pin '", self.toString(), "' only dense CPU tensors can be pinned");
    const auto bytes = at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.dtype().itemsize());
    c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, pinned_allocator().allocate(bytes),
                         &pinned_allocator(), false);
    auto pinned = at::empty({0}, self.options().device(c10::kCPU)).set_(storage, 0, self.sizes(), self.strides());
    pinned.copy_(self);
    return pinned;
}

// --- Operators that libtorch runs on CUDA devices only ---

Tensor or_zeros(const Optional<Tensor>& gradient, const Tensor& like) {
    return gradient.has_value() && gradient->defined() ? *gradient : at::zeros_like(like);
}

Tensor plus(const Tensor& gates, const Optional<Tensor>& bias) {
    return bias.has_value() && bias->defined() ? gates + *bias : gates;
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& cx,
                                             const Optional<Tensor>& input_bias, const Optional<Tensor>& hidden_bias) {
    const auto gates = (plus(input_gates, input_bias) + plus(hidden_gates, hidden_bias)).chunk(4, 1);
    const auto in = gates[0].sigmoid();
    const auto forget = gates[1].sigmoid();
    const auto cell = gates[2].tanh();
    const auto out = gates[3].sigmoid();
    auto cy = forget * cx + in * cell;
    auto hy = out * cy.tanh();
    return {std::move(hy), std::move(cy), at::cat({in, forget, cell, out}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const Optional<Tensor>& grad_hy, const Optional<Tensor>& grad_cy,
                                                      const Tensor& cx, const Tensor& cy, const Tensor& workspace,
                                                      bool has_bias) {
    const auto has_gradient = [](const Optional<Tensor>& gradient) {
        return gradient.has_value() && gradient->defined();
    };
    if (!has_gradient(grad_hy) && !has_gradient(grad_cy)) {
        return {};
    }
    const auto gates = workspace.chunk(4, 1);
    const auto& in = gates[0];
    const auto& forget = gates[1];
    const auto& cell = gates[2];
    const auto& out = gates[3];
    const auto squashed = cy.tanh();
    const auto to_hy = or_zeros(grad_hy, cx);
    const auto to_cy = to_hy * out * (1 - squashed * squashed) + or_zeros(grad_cy, cx);
    auto to_gates = at::cat({to_cy * cell * in * (1 - in), to_cy * cx * forget * (1 - forget),
                             to_cy * in * (1 - cell * cell), to_hy * squashed * out * (1 - out)},
                            1);
    auto to_bias = has_bias ? to_gates.sum(0) : Tensor();
    return {std::move(to_gates), to_cy * forget, std::move(to_bias)};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx,
                                    const Optional<Tensor>& input_bias, const Optional<Tensor>& hidden_bias) {
    const auto input = plus(input_gates, input_bias).chunk(3, 1);
    const auto hidden = plus(hidden_gates, hidden_bias).chunk(3, 1);
    const auto reset = (input[0] + hidden[0]).sigmoid();
    const auto update = (input[1] + hidden[1]).sigmoid();
    const auto fresh = (input[2] + reset * hidden[2]).tanh();
    return {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad_hy, const Tensor& workspace,
                                                                     bool has_bias) {
    const auto saved = workspace.chunk(5, 1);
    const auto& reset = saved[0];
    const auto& update = saved[1];
    const auto& fresh = saved[2];
    const auto& hx = saved[3];
    const auto& hidden = saved[4];
    const auto to_fresh = grad_hy * (1 - update) * (1 - fresh * fresh);
    const auto to_update = grad_hy * (hx - fresh) * update * (1 - update);
    const auto to_reset = to_fresh * hidden * reset * (1 - reset);
    auto to_input = at::cat({to_reset, to_update, to_fresh}, 1);
    auto to_hidden = at::cat({to_reset, to_update, to_fresh * reset}, 1);
    auto to_input_bias = has_bias ? to_input.sum(0) : Tensor();
    auto to_hidden_bias = has_bias ? to_hidden.sum(0) : Tensor();
    return {std::move(to_input), std::move(to_hidden), grad_hy * update, std::move(to_input_bias),
            std::move(to_hidden_bias)};
}

/// On the CPU this draws from the CPU's generator, which it does not take as an argument.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, Optional<bool> train) {
    if (train.has_value() && !*train) {
        return {input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
    }
    auto mask = at::empty_like(input, input.options().dtype(at::kBool), at::MemoryFormat::Contiguous);
    mask.bernoulli_(1 - p);
    auto output = input.mul(mask).mul_(p == 1 ? 0. : 1 / (1 - p));
    return {std::move(output), std::move(mask)};
}

bool no_fused_ctc(const Tensor&, const Tensor&, c10::IntArrayRef, c10::IntArrayRef, std::int64_t) { return false; }

bool no_fused_ctc_tensors(const Tensor&, const Tensor&, const Tensor&, const Tensor&, std::int64_t) { return false; }

void record_stream(Tensor&, c10::Stream) {}

// --- Registration ---

/// Whether libtorch's dispatcher knows an operator; not all are in every version.
bool exists(std::string_view name, std::string_view overload = {}) {
    return c10::Dispatcher::singleton().findSchema({"aten::" + std::string(name), std::string(overload)}).has_value();
}

void register_own(torch::Library& library) {
    library.impl("empty.memory_format", TORCH_FN(empty));
    library.impl("empty_strided", TORCH_FN(empty_strided));
    library.impl("_efficientzerotensor", TORCH_FN(efficient_zeros));
    library.impl("set_", TORCH_FN(set_nothing));
    library.impl("set_.source_Storage", TORCH_FN(set_storage));
    library.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage_strided));
    library.impl("set_.source_Tensor", TORCH_FN(set_tensor));
    library.impl("_copy_from", TORCH_FN(copy_from));
    library.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
    library.impl("is_pinned", TORCH_FN(is_pinned_tensor));
    library.impl("_pin_memory", TORCH_FN(pin_tensor));
    library.impl("_thnn_fused_lstm_cell", TORCH_FN(lstm_cell));
    library.impl("_thnn_fused_lstm_cell_backward_impl", TORCH_FN(lstm_cell_backward));
    library.impl("_thnn_fused_gru_cell", TORCH_FN(gru_cell));
    library.impl("_thnn_fused_gru_cell_backward", TORCH_FN(gru_cell_backward));
    library.impl("native_dropout", TORCH_FN(native_dropout));
    for (const std::string_view name : {"_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"}) {
        if (exists(name)) library.impl(std::string(name).c_str(), TORCH_FN(no_fused_ctc));
        if (exists(name, "Tensor"))
            library.impl((std::string(name) + ".Tensor").c_str(), TORCH_FN(no_fused_ctc_tensors));
    }
    library.impl("record_stream", TORCH_FN(record_stream));
}

bool returns_view(const c10::FunctionSchema& schema) {
    return std::any_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument& result) {
        return result.alias_info() != nullptr && !result.alias_info()->isWrite();
    });
}

bool takes_tensor(const c10::FunctionSchema& schema) {
    return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
        return argument.type()->isSubtypeOf(*c10::TensorType::get()) ||
               argument.type()->isSubtypeOf(*c10::ListType::ofTensors());
    });
}

bool takes_device(const c10::FunctionSchema& schema) { return schema.argumentIndexWithName("device").has_value(); }

/// Operators that give the host's memory to their results also on hardware, or that do nothing with it.
bool works_as_it_is(std::string_view name) {
    constexpr std::array<std::string_view, 3> names = {"aten::_pack_padded_sequence", "aten::detach_",
                                                       "aten::_lazy_clone"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Has an operator run on the CPU though libtorch would compose it of others: the composition may look for a kernel
/// where only the libraries for real CUDA put one. Views, and what makes a tensor on a given device, are composed well.
bool is_to_be_claimed(const c10::OperatorHandle& op) {
    const auto& schema = op.schema();
    return op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) &&
           !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
           !op.hasKernelForDispatchKey(DispatchKey::CUDA) && !returns_view(schema) && takes_tensor(schema) &&
           !takes_device(schema) && !works_as_it_is(schema.name());
}

/// Sparse tensors have kernels of their own for some operators, and would get the composition for dense ones here.
bool is_to_be_claimed_as_on(DispatchKey cpu, DispatchKey cuda, const c10::OperatorHandle& op) {
    return op.hasKernelForDispatchKey(cpu) && !op.hasKernelForDispatchKey(cuda);
}

/// What libtorch makes of other operators for a device without a kernel, but not as it is made on hardware: two call a
/// kernel of the device directly, two first write a result of another shape and warn of it.
bool is_made_otherwise(const c10::OperatorHandle& op) {
    const auto& schema = op.schema();
    const auto& overload = schema.overload_name();
    return schema.name() == "aten::kaiser_window" || (schema.name() == "aten::nanmean" && overload == "out") ||
           ((schema.name() == "aten::mse_loss" || schema.name() == "aten::smooth_l1_loss") && overload.empty());
}

void claim_composites(torch::Library& dense, torch::Library& sparse, torch::Library& compressed) {
    for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
        const auto op = c10::Dispatcher::singleton().findSchema(name);
        if (!op || name.name.rfind("aten::", 0) != 0) {
            continue;
        }
        auto overload = name.name.substr(std::string_view("aten::").size());
        if (!name.overload_name.empty()) {
            overload += "." + name.overload_name;
        }
        if (is_to_be_claimed(*op) || is_made_otherwise(*op)) {
            dense.impl(overload.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
        }
        if (is_to_be_claimed_as_on(DispatchKey::SparseCPU, DispatchKey::SparseCUDA, *op)) {
            sparse.impl(overload.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
        }
        if (is_to_be_claimed_as_on(DispatchKey::SparseCsrCPU, DispatchKey::SparseCsrCUDA, *op)) {
            compressed.impl(overload.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
        }
    }
}

/// Names the kinds of tensors that are not held, where libtorch would speak of a missing backend.
void refuse_kind(const c10::OperatorHandle& op, torch::jit::Stack*) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "`", op.schema().name(),
                                "` has to do with a quantised or nested tensor, and simulated cuda devices hold dense "
                                "and sparse tensors only");
}

#if __has_include(<ATen/native/transformers/attention.h>)
/// Attention asks each device which of its fused kernels to use; here it is put together from plain operators.
template <class Function>
struct PlainAttention;

template <class Result, class... Arguments>
struct PlainAttention<Result (*)(Arguments...)> {
    static Result choose(Arguments...) { return Result{0}; }
};

template <class Stub>
void choose_plain_attention(Stub& stub) {
    const at::native::RegisterCUDADispatch<Stub> registered(stub, &PlainAttention<typename Stub::FnPtr>::choose);
}
#endif

/// Named by libtorch where it says who registered a kernel.
constexpr const char* registrant = "somatize-simcuda";

struct Registrations {
    torch::Library operators{torch::Library::IMPL, "aten", DispatchKey::CUDA, registrant, 0};
    torch::Library sparse_operators{torch::Library::IMPL, "aten", DispatchKey::SparseCUDA, registrant, 0};
    torch::Library compressed_operators{torch::Library::IMPL, "aten", DispatchKey::SparseCsrCUDA, registrant, 0};
    torch::Library dense{torch::Library::IMPL, "_", DispatchKey::CUDA, registrant, 0};
    torch::Library sparse{torch::Library::IMPL, "_", DispatchKey::SparseCUDA, registrant, 0};
    torch::Library compressed{torch::Library::IMPL, "_", DispatchKey::SparseCsrCUDA, registrant, 0};
    torch::Library quantised{torch::Library::IMPL, "_", DispatchKey::QuantizedCUDA, registrant, 0};
    torch::Library nested{torch::Library::IMPL, "_", DispatchKey::NestedTensorCUDA, registrant, 0};
};

} // namespace

void register_kernels() {
    static Immortal<Registrations> all;
    register_own(all->operators);
    claim_composites(all->operators, all->sparse_operators, all->compressed_operators);
    for (auto* const library : {&all->dense, &all->sparse, &all->compressed}) {
        library->fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
    }
    for (auto* const library : {&all->quantised, &all->nested}) {
        library->fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_kind>());
    }
#if __has_include(<ATen/native/transformers/attention.h>)
    choose_plain_attention(at::native::_fused_sdp_choice_stub);
#endif
}

} // namespace soma::simcuda

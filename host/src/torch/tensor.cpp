// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include "borrowed.h"
#include "dtype.h"
#include "engine_table.h"
#include "failure.h"
#include "places.h"
#include "values.h"

namespace soma::detail {

namespace {

soma_string text(std::string_view view) noexcept { return {view.data(), view.size()}; }

soma_string text(const char* words) noexcept { return {words, std::strlen(words)}; }

std::uint64_t put(std::string_view view, char* buffer, std::uint64_t capacity) noexcept {
    const std::size_t size = std::min<std::size_t>(view.size(), capacity);
    std::copy_n(view.data(), size, buffer);
    return size;
}

soma_place place_of(const c10::TensorImpl& impl) noexcept {
    try {
        const c10::Device device = impl.device();
        return device.is_cpu() ? soma_place{SOMA_DEVICE_CPU, 0} : to_place(device);
    } catch (...) {
        return {SOMA_DEVICE_NONE, 0};
    }
}

std::string shape_of(const at::Tensor& tensor) {
    std::string shape;
    if (tensor.layout() != c10::kStrided) shape.append(layout_name(static_cast<int>(tensor.layout()))).append(" ");
    if (tensor.is_nested()) return shape.append("nested ").append(dtype_name(static_cast<int>(tensor.scalar_type())));
    shape.append(dtype_name(static_cast<int>(tensor.scalar_type()))).append("[");
    const char* separator = "";
    for (const std::int64_t size : tensor.sizes()) {
        shape.append(separator).append(std::to_string(size));
        separator = ", ";
    }
    return shape.append("]");
}

void describe(const at::Tensor& tensor, soma_tensor_info& out) {
    soma_tensor_info info{};
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    info.struct_size = out.struct_size;
    info.ndim = static_cast<std::uint32_t>(tensor.dim());
    info.place = place_of(impl);
    // Whether a tensor is where it should be is asked much more often than all the rest.
    if (out.struct_size <= offsetof(soma_tensor_info, device)) {
        std::memcpy(&out, &info, out.struct_size);
        return;
    }
    info.device = text(place_name(info.place));
    info.dtype = text(dtype_name(static_cast<int>(tensor.scalar_type())));
    if (tensor.is_nested()) {
        throw Failure(SOMA_UNIMPLEMENTED, "a nested tensor has no one shape; make it padded or a list of tensors");
    }
    info.sizes = tensor.sizes().data();
    if (tensor.layout() == c10::kStrided) info.strides = tensor.strides().data();
    info.numel = static_cast<std::uint64_t>(tensor.numel());
    if (const Dtype* dtype = find_dtype(static_cast<int>(tensor.scalar_type()))) info.dl_dtype = dtype->dl;
    info.requires_grad = tensor.requires_grad() ? 1 : 0;
    // A plugin that knows a shorter struct gets what it knows.
    std::memcpy(&out, &info, std::min<std::size_t>(out.struct_size, sizeof info));
}

} // namespace

void engine_release(std::uint32_t kind, void* payload) noexcept {
    if (kind == SOMA_KIND_TENSOR) {
        static_cast<void>(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(impl_of(payload)));
    } else if (kind == SOMA_KIND_GENERATOR) {
        static_cast<void>(c10::intrusive_ptr<c10::GeneratorImpl>::reclaim(static_cast<c10::GeneratorImpl*>(payload)));
    }
}

soma_place engine_place(std::uint32_t kind, void* payload) noexcept {
    if (kind == SOMA_KIND_TENSOR) return place_of(*impl_of(payload));
    if (kind == SOMA_KIND_GENERATOR) return to_place(static_cast<c10::GeneratorImpl*>(payload)->device());
    return {SOMA_DEVICE_NONE, 0};
}

std::uint64_t engine_place_text(soma_place place, char* buffer, std::uint64_t capacity) noexcept {
    try {
        return put(place_name(place), buffer, capacity);
    } catch (...) {
        return put("an unknown device", buffer, capacity);
    }
}

soma_status* engine_info(void* tensor, soma_tensor_info* out) noexcept {
    return guarded([&] { describe(tensor_at(tensor), *out); });
}

std::uint64_t engine_shape_text(void* tensor, char* buffer, std::uint64_t capacity) noexcept {
    try {
        return put(shape_of(tensor_at(tensor)), buffer, capacity);
    } catch (...) {
        return put("tensor", buffer, capacity);
    }
}

bool engine_version(void* tensor, std::uint64_t* out) noexcept {
    c10::TensorImpl& impl = *impl_of(tensor);
    if (impl.is_inference()) return false;
    try {
        *out = impl.version_counter().current_version();
        return true;
    } catch (...) {
        return false;
    }
}

bool engine_requires_grad(void* tensor) noexcept {
    try {
        return tensor_at(tensor).requires_grad();
    } catch (...) {
        return false;
    }
}

std::uint64_t engine_storage_id(void* tensor) noexcept { return memory_of(tensor_at(tensor)); }

} // namespace soma::detail

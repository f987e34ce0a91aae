// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <fmt/format.h>

#include "borrowed.h"
#include "compat.h"
#include "dtype.h"
#include "engine_table.h"
#include "failure.h"
#include "places.h"
#include "values.h"

namespace soma::detail {

namespace {

constexpr std::uint32_t own_major = 1;
constexpr std::uint32_t own_minor = 0;
constexpr std::int32_t most_dimensions = 64;

// DLPack's numbers for kinds of devices.
constexpr std::int32_t dl_cpu = 1;
constexpr std::int32_t dl_cuda = 2;
constexpr std::int32_t dl_cuda_host = 3;
constexpr std::int32_t dl_metal = 8;
constexpr std::int32_t dl_one_api = 14;

/// A tensor lent as raw memory: what the plugin is given, and what must live as long.
struct Loan {
    soma_dl_managed managed{};
    at::Tensor tensor;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
};

void SOMA_CALL end_loan(soma_dl_managed* managed) {
    static_cast<void>(std::unique_ptr<Loan>(static_cast<Loan*>(managed->manager_ctx)));
}

[[noreturn]] void refuse_out(std::string_view why) {
    throw Failure(SOMA_FAILED_PRECONDITION, fmt::format("the tensor cannot be lent as raw memory: {}", why));
}

soma_dl_device dl_device_of(c10::Device device) {
    const soma_place place = to_place(device);
    switch (place.kind) {
    case SOMA_DEVICE_CPU: return {dl_cpu, 0};
    case SOMA_DEVICE_CUDA: return {dl_cuda, place.index};
    case SOMA_DEVICE_MPS: return {dl_metal, 0};
    case SOMA_DEVICE_XPU: return {dl_one_api, place.index};
    case SOMA_DEVICE_META: refuse_out("it is on `meta`, where there is none");
    default: refuse_out(fmt::format("DLPack has no number for `{}`", place_name(place)));
    }
}

soma_dl_datatype dl_dtype_of(const at::Tensor& tensor) {
    const auto number = static_cast<int>(tensor.scalar_type());
    const Dtype* dtype = find_dtype(number);
    if (dtype == nullptr || dtype->dl.lanes == 0) {
        refuse_out(fmt::format("DLPack has no number for the dtype {}", dtype_name(number)));
    }
    return dtype->dl;
}

// Everything raw memory cannot say would be lost without a word.
void check_plain(const at::Tensor& tensor) {
    if (tensor.is_nested()) refuse_out("it is a nested tensor; lend its parts");
    if (tensor.layout() != c10::kStrided) {
        refuse_out(fmt::format("its layout is {}; call `aten::to_dense` first",
                               layout_name(static_cast<int>(tensor.layout()))));
    }
    if (tensor.is_quantized()) refuse_out("it is quantised; call `aten::dequantize` first");
    if (tensor.requires_grad()) {
        refuse_out("it requires grad, and gradients would be lost; call `aten::detach` first");
    }
    if (tensor.is_conj()) refuse_out("its conjugate bit is set; call `aten::resolve_conj` first");
    if (tensor.is_neg()) refuse_out("its negative bit is set; call `aten::resolve_neg` first");
    if (tensor._is_zerotensor()) refuse_out("it is a zero tensor, which has no memory; call `aten::clone` first");
}

soma_dl_managed* lend(const at::Tensor& tensor, bool writable) {
    check_plain(tensor);
    auto loan = std::make_unique<Loan>();
    soma_dl_tensor& raw = loan->managed.tensor;
    raw.device = dl_device_of(tensor.device());
    raw.dtype = dl_dtype_of(tensor);
    if (writable) {
        check_writable(tensor, "a writable DLPack export");
        // The write itself cannot be seen; counting it now lets graphs and siblings notice.
        if (!tensor.is_inference()) tensor.unsafeGetTensorImpl()->bump_version();
    }
    loan->tensor = tensor;
    loan->shape = tensor.sizes().vec();
    loan->strides = tensor.strides().vec();
    raw.data = raw_memory(tensor, writable);
    raw.ndim = static_cast<std::int32_t>(tensor.dim());
    raw.shape = loan->shape.data();
    raw.strides = loan->strides.data();
    loan->managed.version = {own_major, own_minor};
    loan->managed.flags = writable ? 0 : SOMA_DL_FLAG_READ_ONLY;
    loan->managed.manager_ctx = loan.get();
    loan->managed.deleter = &end_loan;
    return &loan.release()->managed;
}

/// Memory that a plugin lent; given back when the last tensor over it is gone.
struct Lent {
    soma_dl_managed* managed = nullptr; ///< null until the tensor is made: a failure leaves it with the plugin
    bool read_only = false;
};

void give_back(void* context) {
    const std::unique_ptr<Lent> lent(static_cast<Lent*>(context));
    if (lent->managed != nullptr && lent->managed->deleter != nullptr) lent->managed->deleter(lent->managed);
}

[[noreturn]] void refuse_in(std::string_view why) {
    throw Failure(SOMA_INVALID_ARGUMENT, fmt::format("the DLPack tensor cannot be taken: {}", why));
}

soma_place dl_place(soma_dl_device device) {
    switch (device.device_type) {
    case dl_cpu:
    case dl_cuda_host: return {SOMA_DEVICE_CPU, 0};
    case dl_cuda: return {SOMA_DEVICE_CUDA, device.device_id};
    case dl_metal: return {SOMA_DEVICE_MPS, 0};
    case dl_one_api: return {SOMA_DEVICE_XPU, device.device_id};
    default:
        refuse_in(
            fmt::format("device type {} is none that this host knows (1 cpu, 2 cuda, 3 pinned, 8 metal, 14 oneAPI)",
                        device.device_type));
    }
}

c10::Device device_in(soma_dl_device device) {
    const soma_place place = dl_place(device);
    const std::uint32_t count = engine_device_count(place.kind);
    const auto found = to_device(place);
    if (!found || place.index < 0 || static_cast<std::uint32_t>(place.index) >= count) {
        throw Failure(
            SOMA_UNAVAILABLE,
            fmt::format("the DLPack tensor cannot be taken: it is on device {} of type {}, and {} of that type "
                        "{} visible",
                        device.device_id, device.device_type, count, count == 1 ? "is" : "are"));
    }
    return *found;
}

c10::ScalarType dtype_in(soma_dl_datatype dl) {
    if (dl.lanes != 1) refuse_in(fmt::format("its elements are vectors of {} lanes; only 1 will do", dl.lanes));
    const auto number = dtype_from_dl(dl);
    if (!number || *number >= static_cast<int>(c10::ScalarType::NumOptions)) {
        refuse_in(fmt::format("this libtorch has no dtype for code {} with {} bits", dl.code, dl.bits));
    }
    return static_cast<c10::ScalarType>(*number);
}

std::vector<std::int64_t> shape_in(const soma_dl_tensor& raw) {
    if (raw.ndim < 0 || raw.ndim > most_dimensions) {
        refuse_in(fmt::format("it has {} dimensions; 0 to {} will do", raw.ndim, most_dimensions));
    }
    if (raw.ndim > 0 && raw.shape == nullptr) refuse_in(fmt::format("it has {} dimensions and no shape", raw.ndim));
    std::vector<std::int64_t> shape(raw.shape, raw.shape + raw.ndim);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] < 0) refuse_in(fmt::format("dimension {} has size {}", i, shape[i]));
    }
    return shape;
}

std::vector<std::int64_t> strides_in(const soma_dl_tensor& raw, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size());
    if (raw.strides != nullptr) {
        strides.assign(raw.strides, raw.strides + raw.ndim);
        for (std::size_t i = 0; i < strides.size(); ++i) {
            if (strides[i] < 0) refuse_in(fmt::format("dimension {} has the negative stride {}", i, strides[i]));
        }
        return strides;
    }
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step;
        step *= std::max<std::int64_t>(shape[i], 1);
    }
    return strides;
}

// Bytes from the first element to the end of the last; refuses what no address space holds.
void check_extent(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides, std::int64_t size) {
    std::int64_t elements = 1;
    std::int64_t last = 0;
    bool overflow = false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::int64_t reach = 0;
        overflow = overflow || __builtin_mul_overflow(elements, std::max<std::int64_t>(shape[i], 1), &elements) ||
                   __builtin_mul_overflow(std::max<std::int64_t>(shape[i] - 1, 0), strides[i], &reach) ||
                   __builtin_add_overflow(last, reach, &last);
    }
    std::int64_t bytes = 0;
    overflow = overflow || __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, size, &bytes) ||
               __builtin_mul_overflow(elements, size, &bytes);
    if (overflow) refuse_in("its shape and strides reach over more memory than there can be");
}

at::Tensor take(soma_dl_managed* managed) {
    if (managed == nullptr) refuse_in("it is NULL");
    if (managed->version.major != own_major) {
        refuse_in(fmt::format("it is of DLPack {}.{}; this host reads {}.x", managed->version.major,
                              managed->version.minor, own_major));
    }
    const soma_dl_tensor& raw = managed->tensor;
    const c10::ScalarType type = dtype_in(raw.dtype);
    const std::vector<std::int64_t> shape = shape_in(raw);
    const std::vector<std::int64_t> strides = strides_in(raw, shape);
    const auto size = static_cast<std::int64_t>(c10::elementSize(type));
    check_extent(shape, strides, size);
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (raw.data == nullptr && !empty) refuse_in("it has elements and its data is NULL");
    char* data = raw.data == nullptr ? nullptr : static_cast<char*>(raw.data) + raw.byte_offset;
    // A complex number is as aligned as its parts.
    const std::int64_t alignment = c10::isComplexType(type) ? size / 2 : size;
    if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(alignment) != 0) {
        refuse_in(fmt::format("its data is at {}, which is not a multiple of the {} bytes of a {}", fmt::ptr(data),
                              alignment, dtype_name(static_cast<int>(type))));
    }
    const c10::Device device = device_in(raw.device);
    const c10::InferenceMode inference(false);
    auto lent = std::make_unique<Lent>();
    lent->read_only = (managed->flags & SOMA_DL_FLAG_READ_ONLY) != 0;
    Lent* const context = lent.get();
    at::TensorMaker maker = at::for_blob(data, shape);
    maker.strides(at::IntArrayRef(strides))
        .target_device(device)
        .options(at::TensorOptions().dtype(type).device(device));
    maker.context(lent.release(), &give_back);
    at::Tensor tensor = maker.make_tensor();
    context->managed = managed;
    return tensor;
}

} // namespace

bool lent_read_only(const at::Tensor& tensor) noexcept {
    const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    if (!impl->has_storage()) return false;
    const at::DataPtr& memory = impl->storage().data_ptr();
    return memory.get_deleter() == &give_back && static_cast<const Lent*>(memory.get_context())->read_only;
}

soma_status* engine_to_dlpack(soma_value* tensor, std::uint32_t writable, soma_dl_managed** out) noexcept {
    return guarded([&] {
        if (kind_of(tensor) != SOMA_KIND_TENSOR) {
            refuse_out(fmt::format("it is no tensor but {}", kind_with_article(kind_of(tensor))));
        }
        *out = lend(tensor_of(tensor), writable != 0);
    });
}

soma_status* engine_from_dlpack(soma_dl_managed* managed, soma_value** out) noexcept {
    return guarded([&] { *out = give(take(managed)); });
}

} // namespace soma::detail

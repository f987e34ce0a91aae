// SPDX-License-Identifier: Apache-2.0
#include "simcuda/mirror.h"

#include "simcuda/compat.h"
#include "simcuda/devices.h"
#include "simcuda/memory.h"

#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <c10/core/CPUAllocator.h>
#if __has_include(<ATen/NamedTensorUtils.h>)
#include <ATen/NamedTensorUtils.h>
#endif

#include <algorithm>
#include <utility>

namespace soma::simcuda {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

bool is_dense(const at::Tensor& tensor) {
    return tensor.layout() == at::kStrided && !tensor.is_quantized() && !tensor.is_nested();
}

/// Tensors have no names in libtorch 2.14.
void copy_names([[maybe_unused]] const at::Tensor& from, [[maybe_unused]] const at::Tensor& to) {
#if __has_include(<ATen/NamedTensorUtils.h>)
    if (from.has_names() || to.has_names()) at::internal_set_names_inplace(to, from.opt_names());
#endif
}

/// What a tensor is besides its numbers and shape, and what type promotion goes by.
void copy_traits(const at::Tensor& from, const at::Tensor& to) {
    auto* const impl = to.unsafeGetTensorImpl();
    if (from.is_conj() != to.is_conj()) {
        impl->_set_conj(from.is_conj());
    }
    if (from.is_neg() != to.is_neg()) {
        impl->_set_neg(from.is_neg());
    }
    if (from.unsafeGetTensorImpl()->is_wrapped_number()) {
        impl->set_wrapped_number(true);
    }
    copy_names(from, to);
}

void copy_shape(const at::Tensor& from, const at::Tensor& to) {
    auto* const impl = to.unsafeGetTensorImpl();
    impl->set_storage_offset(from.storage_offset());
    impl->set_sizes_and_strides(from.sizes(), from.strides());
}

at::SparseTensorImpl* sparse_impl(const at::Tensor& tensor) {
    return static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}

at::Tensor make_sparse(const at::Tensor& like, DispatchKey key, const at::Tensor& indices, const at::Tensor& values) {
    // Where a sparse tensor is made, it has empty parts at first.
    const CurrentDevice current(values.is_cuda() ? values.device().index() : current_device());
    auto made = at::detail::make_tensor<at::SparseTensorImpl>(DispatchKeySet(key), like.dtype());
    const auto* const from = sparse_impl(like);
    auto* const impl = sparse_impl(made);
    impl->resize_(from->sparse_dim(), from->dense_dim(), like.sizes());
    impl->set_indices_and_values_unsafe(indices, values);
    impl->set_coalesced(from->coalesced());
    return made;
}

bool is_compressed(const at::Tensor& tensor) {
    const auto layout = tensor.layout();
    return layout == at::kSparseCsr || layout == at::kSparseCsc || layout == at::kSparseBsr || layout == at::kSparseBsc;
}

at::SparseCsrTensorImpl* compressed_impl(const at::Tensor& tensor) {
    return static_cast<at::SparseCsrTensorImpl*>(tensor.unsafeGetTensorImpl());
}

at::Tensor make_compressed(const at::Tensor& like, DispatchKey key, const at::Tensor& compressed,
                           const at::Tensor& plain, const at::Tensor& values) {
    const CurrentDevice current(values.is_cuda() ? values.device().index() : current_device());
    auto made = at::detail::make_tensor<at::SparseCsrTensorImpl>(DispatchKeySet(key), values.device(), like.layout(),
                                                                 like.dtype());
    compressed_impl(made)->set_member_tensors(compressed, plain, values, like.sizes());
    return made;
}

} // namespace

void Mirror::refuse(const at::Tensor& tensor) const {
    const char* const kind = tensor.is_nested() ? "nested" : tensor.is_quantized() ? "quantised" : "mkldnn";
    TORCH_CHECK_NOT_IMPLEMENTED(false, "`", op_, "` has to do with a ", kind,
                                " tensor, and simulated cuda:", int{device_}, " holds dense and sparse tensors only");
}

c10::Storage Mirror::host_storage(const c10::Storage& device) {
    for (const auto& memory : memories_) {
        if (memory.device.unsafeGetStorageImpl() == device.unsafeGetStorageImpl()) {
            return memory.host;
        }
    }
    auto* const impl = device.unsafeGetStorageImpl();
    void* const address = impl->data_ptr().get();
    const auto bytes = impl->nbytes();
    // The device's storage outlives this one and frees the memory.
    c10::Storage host(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(address, c10::Device(c10::DeviceType::CPU)),
                      c10::GetCPUAllocator(), true);
    memories_.push_back({device, host, address, bytes});
    return host;
}

c10::Storage Mirror::device_storage(const c10::Storage& host) {
    for (const auto& memory : memories_) {
        if (memory.host.unsafeGetStorageImpl() == host.unsafeGetStorageImpl()) {
            return memory.device;
        }
    }
    auto device = adopt(host, device_);
    memories_.push_back({device, host, host.data_ptr().get(), host.nbytes()});
    return device;
}

at::Tensor Mirror::to_host(const at::Tensor& tensor) {
    if (!tensor.defined()) {
        return tensor;
    }
    if (!tensor.is_cuda()) {
        untouched_.push_back(tensor);
        return tensor;
    }
    for (const auto& pair : dense_) {
        if (pair.device.is_same(tensor)) {
            return pair.host;
        }
    }
    if (tensor.is_sparse()) {
        return sparse_to_host(tensor);
    }
    if (is_compressed(tensor)) {
        return compressed_to_host(tensor);
    }
    if (!is_dense(tensor)) {
        refuse(tensor);
    }
    auto keys = DispatchKeySet(DispatchKey::CPU);
    if (tensor._is_zerotensor()) {
        keys = keys.add(DispatchKey::ZeroTensor);
    }
    auto host = at::detail::make_tensor<c10::TensorImpl>(host_storage(tensor.storage()), keys, tensor.dtype());
    copy_shape(tensor, host);
    copy_traits(tensor, host);
    dense_.push_back({tensor, host});
    return host;
}

at::Tensor Mirror::sparse_to_host(const at::Tensor& tensor) {
    for (const auto& pair : sparse_) {
        if (pair.device.is_same(tensor)) {
            return pair.host;
        }
    }
    const auto indices = to_host(sparse_impl(tensor)->indices());
    const auto values = to_host(sparse_impl(tensor)->values());
    auto host = make_sparse(tensor, DispatchKey::SparseCPU, indices, values);
    sparse_.push_back({tensor, host, indices, values});
    return host;
}

at::Tensor Mirror::compressed_to_host(const at::Tensor& tensor) {
    for (const auto& pair : compressed_) {
        if (pair.device.is_same(tensor)) {
            return pair.host;
        }
    }
    const auto* const impl = compressed_impl(tensor);
    const auto compressed = to_host(impl->compressed_indices());
    const auto plain = to_host(impl->plain_indices());
    const auto values = to_host(impl->values());
    auto host = make_compressed(tensor, DispatchKey::SparseCsrCPU, compressed, plain, values);
    compressed_.push_back({tensor, host, compressed, plain, values});
    return host;
}

at::Tensor Mirror::to_device(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) {
        return tensor;
    }
    const auto is_this = [&](const auto& pair) { return pair.host.is_same(tensor); };
    if (const auto pair = std::find_if(dense_.begin(), dense_.end(), is_this); pair != dense_.end()) {
        return pair->device;
    }
    if (const auto pair = std::find_if(sparse_.begin(), sparse_.end(), is_this); pair != sparse_.end()) {
        return pair->device;
    }
    if (const auto pair = std::find_if(compressed_.begin(), compressed_.end(), is_this); pair != compressed_.end()) {
        return pair->device;
    }
    if (tensor.is_sparse()) {
        return sparse_to_device(tensor);
    }
    if (is_compressed(tensor)) {
        return compressed_to_device(tensor);
    }
    if (!is_dense(tensor)) {
        refuse(tensor);
    }
    for (const auto& given : untouched_) {
        if (given.is_same(tensor) || (given.has_storage() && given.storage().is_alias_of(tensor.storage()))) {
            return tensor;
        }
    }
    auto keys = DispatchKeySet(DispatchKey::CUDA);
    if (tensor._is_zerotensor()) {
        keys = keys.add(DispatchKey::ZeroTensor);
    }
    auto device = at::detail::make_tensor<c10::TensorImpl>(device_storage(tensor.storage()), keys, tensor.dtype());
    copy_shape(tensor, device);
    copy_traits(tensor, device);
    dense_.push_back({device, tensor});
    return device;
}

at::Tensor Mirror::sparse_to_device(const at::Tensor& tensor) {
    for (const auto& given : untouched_) {
        if (given.is_same(tensor)) {
            return tensor;
        }
    }
    const auto* const impl = sparse_impl(tensor);
    auto device = make_sparse(tensor, DispatchKey::SparseCUDA, to_device(impl->indices()), to_device(impl->values()));
    sparse_.push_back({device, tensor, impl->indices(), impl->values()});
    return device;
}

at::Tensor Mirror::compressed_to_device(const at::Tensor& tensor) {
    for (const auto& given : untouched_) {
        if (given.is_same(tensor)) {
            return tensor;
        }
    }
    const auto* const impl = compressed_impl(tensor);
    auto device = make_compressed(tensor, DispatchKey::SparseCsrCUDA, to_device(impl->compressed_indices()),
                                  to_device(impl->plain_indices()), to_device(impl->values()));
    compressed_.push_back({device, tensor, impl->compressed_indices(), impl->plain_indices(), impl->values()});
    return device;
}

void Mirror::settle() {
    for (auto& memory : memories_) {
        auto* const host = memory.host.unsafeGetStorageImpl();
        if (host->data_ptr().get() == memory.address && host->nbytes() == memory.bytes) {
            continue;
        }
        auto* const device = memory.device.unsafeGetStorageImpl();
        const auto bytes = host->nbytes();
        auto grown = host->set_data_ptr(c10::DataPtr(host->data_ptr().get(), c10::Device(c10::DeviceType::CPU)));
        device->set_data_ptr(adopt(std::move(grown), bytes, memory.device.device().index()));
        device->set_nbytes(bytes);
        memory.address = host->data_ptr().get();
        memory.bytes = bytes;
    }
    // A list that grows while it is walked: what replaced a storage, or a sparse tensor's parts, is paired as well.
    for (std::size_t at = 0, count = dense_.size(); at < count; ++at) {
        settle_dense(Dense(dense_[at]));
    }
    for (std::size_t at = 0, count = sparse_.size(); at < count; ++at) {
        settle_sparse(Sparse(sparse_[at]));
    }
    for (std::size_t at = 0, count = compressed_.size(); at < count; ++at) {
        settle_compressed(Compressed(compressed_[at]));
    }
}

void Mirror::settle_dense(const Dense& pair) {
    if (const auto storage = device_storage(pair.host.storage()); !storage.is_alias_of(pair.device.storage())) {
        pair.device.unsafeGetTensorImpl()->set_storage_keep_dtype(storage);
    }
    if (pair.device.storage_offset() != pair.host.storage_offset() || pair.device.sizes() != pair.host.sizes() ||
        pair.device.strides() != pair.host.strides()) {
        copy_shape(pair.host, pair.device);
    }
    copy_traits(pair.host, pair.device);
}

void Mirror::settle_sparse(const Sparse& pair) {
    const auto* const host = sparse_impl(pair.host);
    auto* const device = sparse_impl(pair.device);
    const bool resized = device->sparse_dim() != host->sparse_dim() || device->dense_dim() != host->dense_dim() ||
                         pair.device.sizes() != pair.host.sizes();
    if (resized) {
        device->raw_resize_(host->sparse_dim(), host->dense_dim(), pair.host.sizes());
    }
    if (resized || !host->indices().is_same(pair.indices) || !host->values().is_same(pair.values)) {
        device->set_indices_and_values_unsafe(to_device(host->indices()), to_device(host->values()));
    }
    device->set_coalesced(host->coalesced());
}

void Mirror::settle_compressed(const Compressed& pair) {
    const auto* const host = compressed_impl(pair.host);
    if (pair.device.sizes() == pair.host.sizes() && host->compressed_indices().is_same(pair.compressed) &&
        host->plain_indices().is_same(pair.plain) && host->values().is_same(pair.values)) {
        return;
    }
    compressed_impl(pair.device)
        ->set_member_tensors(to_device(host->compressed_indices()), to_device(host->plain_indices()),
                             to_device(host->values()), pair.host.sizes());
}

c10::IValue Mirror::to_host(const c10::IValue& value) {
    if (value.isStorage()) {
        const auto storage = value.toStorage();
        return storage.device().is_cuda() ? host_storage(storage) : storage;
    }
    if (value.isTensor()) {
        return to_host(value.toTensor());
    }
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) {
            list.push_back(to_host(tensor));
        }
        return list;
    }
    if (value.isOptionalTensorList()) {
        c10::List<Optional<at::Tensor>> list;
        for (const auto& tensor : value.toOptionalTensorVector()) {
            list.push_back(tensor.has_value() ? Optional<at::Tensor>(to_host(*tensor)) : Optional<at::Tensor>());
        }
        return list;
    }
    return value;
}

c10::IValue Mirror::to_device(const c10::IValue& value) {
    if (value.isTensor()) {
        return to_device(value.toTensor());
    }
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) {
            list.push_back(to_device(tensor));
        }
        return list;
    }
    return value;
}

} // namespace soma::simcuda

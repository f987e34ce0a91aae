// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/version.h>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

/// What differs between libtorch 1.13 and 2.14, in one place. Everything else here is written against what they share.
#define SOMA_TORCH_AT_LEAST(major, minor)                                                                              \
    (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

// Since 2.12 or so a graph node counts its own references.
#if __has_include(<torch/csrc/autograd/node.h>)
#define SOMA_TORCH_INTRUSIVE_NODES 1
#else
#define SOMA_TORCH_INTRUSIVE_NODES 0
#endif

// <ATen/autocast_mode.h> includes all of ATen, for half a minute of compiling: the few functions wanted are declared here.
namespace at::autocast {
#if SOMA_TORCH_AT_LEAST(2, 4)
TORCH_API at::ScalarType get_autocast_dtype(at::DeviceType device_type);
TORCH_API void set_autocast_dtype(at::DeviceType device_type, at::ScalarType dtype);
#else
TORCH_API at::ScalarType get_autocast_cpu_dtype();
TORCH_API at::ScalarType get_autocast_gpu_dtype();
TORCH_API at::ScalarType get_autocast_xpu_dtype();
TORCH_API void set_autocast_cpu_dtype(at::ScalarType dtype);
TORCH_API void set_autocast_gpu_dtype(at::ScalarType dtype);
TORCH_API void set_autocast_xpu_dtype(at::ScalarType dtype);
#endif
TORCH_API bool is_autocast_cache_enabled();
TORCH_API void set_autocast_cache_enabled(bool enabled);
} // namespace at::autocast

namespace soma::detail {

#if SOMA_TORCH_AT_LEAST(2, 6)
template <typename T>
using Maybe = std::optional<T>;
#else
template <typename T>
using Maybe = c10::optional<T>;
#endif

/// An int that an operator gives; on 2.x it may come as a symbolic one that has a value.
inline bool is_symbolic_int(const c10::IValue& value) { return value.isSymInt(); }
inline std::int64_t symbolic_int(const c10::IValue& value) {
#if SOMA_TORCH_AT_LEAST(2, 0)
    return value.toSymInt().guard_int(__FILE__, __LINE__);
#else
    return value.toSymInt().expect_int();
#endif
}

/// The first element. Memory that is only read stays shared with the tensors it was lazily copied from.
inline void* raw_memory(const at::Tensor& tensor, bool writable) {
#if SOMA_TORCH_AT_LEAST(2, 1)
    return writable ? tensor.mutable_data_ptr() : const_cast<void*>(tensor.const_data_ptr());
#else
    static_cast<void>(writable);
    return tensor.data_ptr();
#endif
}

} // namespace soma::detail

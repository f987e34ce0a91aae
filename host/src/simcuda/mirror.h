// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace soma::simcuda {

/// Shows simulated tensors to the CPU's kernels for the length of one operator call, without a copy, and brings back
/// what the call did.
///
/// Each tensor on a simulated device gets a host tensor over the same memory, and tensors that share storage get host
/// tensors that share storage. After the call, a storage that was grown and a shape that was changed are changed on the
/// device as well; a result that is one of those host tensors is the tensor it stands for, one over the same memory is a
/// view on the device, and a new one becomes the device's, memory and all.
class Mirror {
public:
    /// New results will be on `device`. `op` is named in errors.
    Mirror(c10::DeviceIndex device, std::string_view op) : device_(device), op_(op) {}

    /// The tensor, the tensors of a list, or the storage, as the CPU sees them. Tensors that are elsewhere stay as they are.
    c10::IValue to_host(const c10::IValue& value);
    at::Tensor to_host(const at::Tensor& tensor);

    /// Brings back what happened to the arguments. Once, after the call and before the results are converted.
    void settle();

    /// A result of the call, as it is on the device.
    c10::IValue to_device(const c10::IValue& value);
    at::Tensor to_device(const at::Tensor& tensor);

private:
    struct Memory {
        c10::Storage device;
        c10::Storage host;
        const void* address;
        std::size_t bytes;
    };
    struct Dense {
        at::Tensor device;
        at::Tensor host;
    };
    struct Sparse {
        at::Tensor device;
        at::Tensor host;
        at::Tensor indices;
        at::Tensor values;
    };

    /// Of any of the four layouts, which have the same three parts.
    struct Compressed {
        at::Tensor device;
        at::Tensor host;
        at::Tensor compressed;
        at::Tensor plain;
        at::Tensor values;
    };

    c10::Storage host_storage(const c10::Storage& device);
    c10::Storage device_storage(const c10::Storage& host);
    at::Tensor sparse_to_host(const at::Tensor& tensor);
    at::Tensor sparse_to_device(const at::Tensor& tensor);
    at::Tensor compressed_to_host(const at::Tensor& tensor);
    at::Tensor compressed_to_device(const at::Tensor& tensor);
    void settle_dense(const Dense& pair);
    void settle_sparse(const Sparse& pair);
    void settle_compressed(const Compressed& pair);
    void refuse(const at::Tensor& tensor) const;

    c10::DeviceIndex device_;
    std::string_view op_;
    std::vector<Memory> memories_;
    std::vector<Dense> dense_;
    std::vector<Sparse> sparse_;
    std::vector<Compressed> compressed_;
    std::vector<at::Tensor> untouched_;
};

} // namespace soma::simcuda

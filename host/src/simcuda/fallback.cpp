// SPDX-License-Identifier: Apache-2.0
#include "simcuda/fallback.h"

#include "simcuda/compat.h"
#include "simcuda/devices.h"
#include "simcuda/generator.h"
#include "simcuda/mirror.h"
#include "simcuda/narrow.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/op_registration/adaption.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace soma::simcuda {
namespace {

using c10::DispatchKey;

/// Operators that take tensors of several devices, on hardware as well.
constexpr std::array<std::string_view, 8> crossing = {
    "aten::copy_",      "aten::copy",      "aten::copy_sparse_to_sparse_", "aten::copy_sparse_to_sparse",
    "aten::_copy_from", "aten::_ctc_loss", "aten::_copy_from_and_resize",  "aten::_ctc_loss_backward"};

/// Operators that, on hardware, do not take a scalar of the CPU for a tensor of the device.
constexpr std::array<std::string_view, 14> strict = {
    "aten::index_select", "aten::gather",      "aten::embedding",        "aten::take",       "aten::scatter",
    "aten::scatter_",     "aten::index_add",   "aten::index_add_",       "aten::index_copy", "aten::index_copy_",
    "aten::index_fill",   "aten::index_fill_", "aten::nll_loss_forward", "aten::scatter_add"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool crosses(const c10::FunctionSchema& schema) {
    // Lists that are changed in place are walked tensor by tensor.
    const bool each_by_itself = schema.name().rfind("aten::_foreach_", 0) == 0 && schema.returns().empty();
    return each_by_itself || contains(crossing, schema.name());
}

/// Ends the call with libtorch's own words for tensors of several devices, which differ between its versions.
template <class Report>
void report_mixed_devices(Report report, c10::Device common, const at::Tensor& tensor, const char* method,
                          const char* argument) {
    Optional<c10::Device> held(common);
    if constexpr (std::is_invocable_v<Report, c10::Device, const at::Tensor&, const char*, const char*>) {
        report(common, tensor, method, argument);
    } else {
        report(held, tensor, method, argument);
    }
}

/// Finds the one device that all tensors of a call are on.
class CommonDevice {
public:
    explicit CommonDevice(const c10::FunctionSchema& schema)
        : schema_(schema), crossing_(crosses(schema)), strict_(contains(strict, schema.name())) {}

    void add(const c10::IValue& value, const c10::Argument& argument) {
        if (value.isTensor()) {
            add(value.toTensor(), argument);
        } else if (value.isTensorList()) {
            for (const at::Tensor& tensor : value.toTensorVector()) {
                add(tensor, argument);
            }
        } else if (value.isOptionalTensorList()) {
            for (const auto& tensor : value.toOptionalTensorVector()) {
                if (tensor.has_value()) add_index(*tensor);
            }
        } else if (value.isDevice() && value.toDevice().is_cuda()) {
            asked_ = value.toDevice();
        }
    }

    /// The tensors' device, else the one that was asked for, else the current one.
    c10::DeviceIndex index() const {
        if (simulated_) {
            return simulated_->index();
        }
        return asked_ && asked_->has_index() ? asked_->index() : current_device();
    }

private:
    /// A list of optional tensors is one of indices, which may be on the CPU.
    void add_index(const at::Tensor& index) {
        if (!index.defined() || index.is_cpu()) return;
        if (!simulated_) simulated_ = index.device();
        TORCH_CHECK(common_ == index.device(), "indices should be either on cpu or on the same device as the indexed ",
                    "tensor (", common_.value_or(c10::Device(c10::DeviceType::CPU)), ")");
    }

    void add(const at::Tensor& tensor, const c10::Argument& argument) {
        if (!tensor.defined()) {
            return;
        }
        const auto device = tensor.device();
        if (device.is_cuda() && !simulated_) {
            simulated_ = device;
        }
        const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
        if (crossing_ || (device.is_cpu() && tensor.dim() == 0 && !written && !strict_)) {
            return;
        }
        if (!common_) {
            common_ = device;
        } else if (*common_ != device) {
            const auto method = "wrapper_CUDA_" + schema_.name().substr(schema_.name().rfind(':') + 1);
            report_mixed_devices(&c10::impl::common_device_check_failure, *common_, tensor, method.c_str(),
                                 argument.name().c_str());
        }
    }

    const c10::FunctionSchema& schema_;
    bool crossing_;
    bool strict_;
    Optional<c10::Device> common_;
    Optional<c10::Device> simulated_;
    Optional<c10::Device> asked_;
};

bool takes_generator(const c10::Argument& argument) {
    if (const auto optional = argument.type()->cast<c10::OptionalType>()) {
        return optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
    }
    return argument.type()->kind() == c10::TypeKind::GeneratorType;
}

void check_cpu_has(const c10::OperatorHandle& op, c10::DeviceIndex device) {
    for (const auto key : {DispatchKey::CPU, DispatchKey::SparseCPU, DispatchKey::SparseCsrCPU}) {
        if (op.hasComputedKernelForDispatchKey(key)) {
            return;
        }
    }
    TORCH_CHECK_NOT_IMPLEMENTED(false, "`", op.schema().name(), "` cannot run on simulated cuda:", int{device},
                                ": libtorch has no CPU kernel for it");
}

} // namespace

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const auto& schema = op.schema();
    const auto& parameters = schema.arguments();
    const std::span<c10::IValue> arguments(stack->data() + (stack->size() - parameters.size()), parameters.size());

    CommonDevice common(schema);
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        common.add(arguments[at], parameters[at]);
    }
    const auto device = common.index();
    TORCH_CHECK(is_device(device), "CUDA error: invalid device ordinal");
    check_cpu_has(op, device);

    Mirror mirror(device, schema.name());
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        auto& value = arguments[at];
        if (takes_generator(parameters[at])) {
            value = host_generator(value.isNone() ? at::Generator() : value.toGenerator(), device);
        } else if (value.isDevice() && value.toDevice().is_cuda()) {
            value = c10::Device(c10::DeviceType::CPU);
        } else {
            value = mirror.to_host(value);
        }
    }

    {
        const CurrentDevice current(device);
        const at::AutoDispatchBelowADInplaceOrView below_autograd;
        const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
        call_on_cpu(op, stack);
    }

    mirror.settle();
    const auto results = schema.returns().size();
    for (auto& value : std::span<c10::IValue>(stack->data() + (stack->size() - results), results)) {
        value = mirror.to_device(value);
    }
}

} // namespace soma::simcuda

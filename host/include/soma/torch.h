// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "soma/device.h"
#include "soma/export.h"
#include "soma/value.h"

/// Tensors as values, for an application that uses libtorch itself. Link `Somatize::torch`: the tensor engine is then in
/// the process from the start, with the application's own libtorch.
namespace soma {

/// The value shares the tensor, with its gradient function, and copies nothing. An undefined tensor becomes none.
SOMA_API Value from_tensor(at::Tensor tensor);

/// The value's tensor, shared with it; an undefined one for none. `ValueError` for every other kind.
SOMA_API at::Tensor to_tensor(const Value& value);

/// Every tensor in the value, in lists and dicts too, in order of appearance. What is not a tensor is passed over.
/// With a pipeline's parameters this is what a `torch::optim` optimiser takes.
SOMA_API std::vector<at::Tensor> to_tensors(const Value& value);

/// The value shares the generator, so its state moves on for both. `ValueError` for an undefined one.
SOMA_API Value from_generator(at::Generator generator);

/// The value's generator, shared with it. `ValueError` for every other kind.
SOMA_API at::Generator to_generator(const Value& value);

/// The same device in libtorch's type.
SOMA_API at::Device to_torch(const Device& device);

/// The same device in ours; nullopt for one that cannot be declared, and for one that lacks the index its kind wants.
SOMA_API std::optional<Device> from_torch(at::Device device);

} // namespace soma

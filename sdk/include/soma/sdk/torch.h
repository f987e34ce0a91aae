// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file torch.h
/// libtorch's own tensors, for a plugin that links libtorch (`somatize_add_plugin(… TORCH)`). Not part of sdk.h: every
/// other plugin does without. What holds of a lent tensor is written in soma/ext/torch.h.

#include <soma/ext/torch.h>
#include <soma/sdk/tensor.h>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace soma::sdk {

/// The host's table of the extension `soma.torch/1`. [any thread] Throws Error in a host that has no libtorch.
inline const soma_torch& torch_extension() {
    static const soma_torch* const table = static_cast<const soma_torch*>(host_extension(SOMA_EXT_TORCH));
    if (table == nullptr || !SOMA_HAS(table, soma_torch, generator_get)) {
        throw Error{Code::unimplemented, "this host lends no libtorch tensors (no extension `" SOMA_EXT_TORCH "`)"};
    }
    return *table;
}

/// The tensor of a value, shared with it: do not write to what came in as an input. A value that is none throws Error.
inline at::Tensor to_torch(const Value& value) {
    const void* lent = nullptr;
    check(torch_extension().tensor_get(host(), value.get(), &lent));
    return *static_cast<const at::Tensor*>(lent);
}

/// A value that shares the tensor, with its gradient function; an undefined one becomes none.
inline Value from_torch(const at::Tensor& tensor) {
    soma_value* value = nullptr;
    check(torch_extension().tensor_make(host(), &tensor, &value));
    return Value::adopt(value);
}

/// The generator of a value such as `ctx.generator()`, shared with it.
inline at::Generator to_torch_generator(const Value& value) {
    const void* lent = nullptr;
    check(torch_extension().generator_get(host(), value.get(), &lent));
    return *static_cast<const at::Generator*>(lent);
}

/// A value that shares the generator.
inline Value from_torch_generator(const at::Generator& generator) {
    soma_value* value = nullptr;
    check(torch_extension().generator_make(host(), &generator, &value));
    return Value::adopt(value);
}

} // namespace soma::sdk

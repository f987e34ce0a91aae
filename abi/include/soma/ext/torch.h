/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_EXT_TORCH_H
#define SOMA_EXT_TORCH_H
/**
 * @file torch.h
 * Extension `soma.torch/1`: the `at::Tensor` behind a value, for a plugin that links libtorch itself.
 *
 * Most plugins need neither this nor libtorch: operators are called through `op_call`, and raw memory is reached with
 * DLPack. This is for a plugin that has C++ code over `at::Tensor` already: modules of `torch::nn`, custom autograd
 * functions, kernels of its own.
 *
 *     const soma_torch* torch = (const soma_torch*)api->get_extension(host, SOMA_EXT_TORCH);
 *     const void* lent;
 *     soma_status* failed = torch->tensor_get(host, input, &lent);
 *     const at::Tensor& x = *static_cast<const at::Tensor*>(lent);
 *     at::Tensor y = torch::relu(x);
 *     failed = torch->tensor_make(host, &y, &outcome->value);
 *
 * What holds:
 *  - **One libtorch.** A C++ object can be handed over only between binaries built against the same libtorch with the
 *    same C++ ABI. A plugin that includes libtorch says which in an ELF note (`somatize_add_plugin(… TORCH)` writes it),
 *    and the host compares it with `fingerprint` before it loads the plugin, so the two are known to be equal here.
 *  - **The tensor is lent.** What `tensor_get` gives points into the value and lives as long as it: copy the `at::Tensor`
 *    (which counts a reference) to keep it longer. It is const: never assign to it.
 *  - **Inputs are shared.** Nobody watches what is done with the tensor. An in-place operation on an input that a sibling
 *    reads too is noticed only after the node returned, by libtorch's version counter, and ends the run with an error
 *    that names the candidates; under inference mode nothing counts and it is not noticed at all.
 *  - **The device is the node's duty**, as everywhere: the current device and stream are set for the node's placement,
 *    but a tensor made without saying where is on cpu.
 *  - Autograd records what is done with the tensor when `ctx->grad_mode` is set; there is nothing to declare.
 *  - No exception may leave the plugin: wrap what calls libtorch.
 */
#include "../abi/base.h"

SOMA_EXTERN_C_BEGIN

/** Id for `soma_api.get_extension`. A change of meaning gets another revision. */
#define SOMA_EXT_TORCH "soma.torch/1"

/** The functions of the extension. Static: valid as long as the host. */
typedef struct soma_torch {
    uint32_t struct_size; /**< set by the host */
    uint32_t reserved;    /**< 0 */
    /** Which libtorch the host runs, e.g. "libtorch=1.13.1;cxx11abi=1"; NUL-terminated, lives as long as the host. */
    const char* fingerprint;
    /**
     * The `const at::Tensor*` behind a tensor value, borrowed from it. [any thread]
     * A value that is no tensor is SOMA_TYPE_MISMATCH.
     */
    soma_status*(SOMA_CALL* tensor_get)(soma_host* host, const soma_value* value, const void** tensor);
    /**
     * A new value that shares the tensor `*(const at::Tensor*)tensor`; the caller keeps its own reference. An undefined
     * tensor becomes none. [any thread]
     */
    soma_status*(SOMA_CALL* tensor_make)(soma_host* host, const void* tensor, soma_value** out);
    /**
     * A new value that shares the generator `*(const at::Generator*)generator`; the caller keeps its own reference.
     * An undefined generator is SOMA_INVALID_ARGUMENT. [any thread]
     */
    soma_status*(SOMA_CALL* generator_make)(soma_host* host, const void* generator, soma_value** out);
    /**
     * The `const at::Generator*` behind a generator value, borrowed from it. [any thread]
     * A value that is no generator is SOMA_TYPE_MISMATCH.
     */
    soma_status*(SOMA_CALL* generator_get)(soma_host* host, const soma_value* value, const void** generator);
} soma_torch;

SOMA_EXTERN_C_END

SOMA_STATIC_ASSERT(offsetof(soma_torch, struct_size) == 0 && offsetof(soma_torch, reserved) == 4, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_torch, fingerprint) == 8 && offsetof(soma_torch, tensor_get) == 16, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_torch, tensor_make) == 24 && offsetof(soma_torch, generator_make) == 32, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_torch, generator_get) == 40 && sizeof(soma_torch) == 48, "layout");

#endif

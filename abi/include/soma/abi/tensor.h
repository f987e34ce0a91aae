/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_TENSOR_H
#define SOMA_ABI_TENSOR_H
/**
 * @file tensor.h
 * What a tensor says of itself, and how an operator of the host's tensor library is called.
 *
 * Operators are libtorch's, by name and overload (`aten::add`, `Tensor`). Call them on any device; autograd records
 * them. Only operators listed in `operators.txt` are known to have one signature on every libtorch the host supports.
 */
#include "base.h"
#include "dlpack.h"

SOMA_EXTERN_C_BEGIN

/** Facts about a tensor, filled by `tensor_info`. Pointers are borrowed and valid while the value is held. */
typedef struct soma_tensor_info {
    uint32_t struct_size;      /**< set by the plugin before the call */
    uint32_t ndim;             /**< how many dimensions */
    soma_place place;          /**< where it is */
    soma_string device;        /**< as torch writes it, e.g. "cuda:0"; NUL-terminated; lives as long as the host */
    soma_string dtype;         /**< e.g. "float32"; NUL-terminated; lives as long as the host */
    const int64_t* sizes;      /**< `ndim` numbers, in elements */
    const int64_t* strides;    /**< `ndim` numbers, in elements; NULL when the tensor is not strided */
    uint64_t numel;            /**< how many elements */
    soma_dl_datatype dl_dtype; /**< the same dtype in DLPack's numbers */
    uint32_t requires_grad;    /**< 0 or 1 */
} soma_tensor_info;

/**
 * One operator call, filled by the plugin. Arguments convert by the operator's schema: an int or float where it wants a
 * Scalar, a string where it wants a device or a dtype, a list where it wants a list, a generator where it wants one, none
 * where an argument is optional. Arguments not given take the schema's defaults.
 */
typedef struct soma_call {
    uint32_t struct_size;     /**< set by whoever fills the struct */
    uint32_t arg_count;       /**< how many are positional */
    soma_value* const* args;  /**< positional arguments, borrowed */
    uint32_t named_count;     /**< how many are named */
    uint32_t result_capacity; /**< how many results fit `results`; fewer than the operator gives is an error */
    const soma_string* names; /**< `named_count` argument names; `out` arguments can only be given so */
    soma_value* const* named; /**< their values, borrowed */
    soma_value** results;     /**< new references, in the operator's order */
    uint32_t result_count;    /**< out: how many results there are */
    uint32_t reserved;        /**< 0 */
} soma_call;

SOMA_EXTERN_C_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_DLPACK_H
#define SOMA_ABI_DLPACK_H
/**
 * @file dlpack.h
 * Raw tensor memory, in the layout of DLPack 1.x (https://dmlc.github.io/dlpack/latest/) under names of our own, so that
 * a plugin may include `dlpack.h` as well and cast between the two.
 */
#include "base.h"

SOMA_EXTERN_C_BEGIN

/** DLDevice. The numbers of `device_type` are DLPack's: 1 cpu, 2 cuda, 8 metal, 14 oneAPI; it has none for meta. */
typedef struct soma_dl_device {
    int32_t device_type; /**< 1 cpu, 2 cuda, 8 metal, 14 oneAPI */
    int32_t device_id;   /**< 0 where the kind has no index */
} soma_dl_device;

/** DLDataType. Codes are DLPack's: 0 int, 1 uint, 2 float, 3 opaque handle, 4 bfloat, 5 complex, 6 bool. */
typedef struct soma_dl_datatype {
    uint8_t code;   /**< 0 int, 1 uint, 2 float, … */
    uint8_t bits;   /**< per lane */
    uint16_t lanes; /**< 1 but for vectors */
} soma_dl_datatype;

/** DLTensor. Shape and strides count elements; `strides` NULL means compact row-major. */
typedef struct soma_dl_tensor {
    void* data;             /**< on the device */
    soma_dl_device device;  /**< where `data` is */
    int32_t ndim;           /**< how many dimensions */
    soma_dl_datatype dtype; /**< of an element */
    int64_t* shape;         /**< `ndim` numbers */
    int64_t* strides;       /**< `ndim` numbers, or NULL */
    uint64_t byte_offset;   /**< from `data` to the first element */
} soma_dl_tensor;

/** DLPackVersion. A consumer refuses another major. */
typedef struct soma_dl_version {
    uint32_t major; /**< 1 */
    uint32_t minor; /**< only adds */
} soma_dl_version;

#define SOMA_DL_FLAG_READ_ONLY ((uint64_t)1) /**< nobody may write to it */
#define SOMA_DL_FLAG_IS_COPIED ((uint64_t)2) /**< the memory is a copy, made for the consumer */

/** DLManagedTensorVersioned. `deleter` frees the whole struct; it may be NULL when there is nothing to free. */
typedef struct soma_dl_managed {
    soma_dl_version version;                                /**< of DLPack */
    void* manager_ctx;                                      /**< the producer's own */
    void(SOMA_CALL* deleter)(struct soma_dl_managed* self); /**< may be NULL */
    uint64_t flags;                                         /**< SOMA_DL_FLAG_… */
    soma_dl_tensor tensor;                                  /**< what is lent */
} soma_dl_managed;

SOMA_EXTERN_C_END

#endif

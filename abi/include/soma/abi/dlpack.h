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
    int32_t device_type;
    int32_t device_id;
} soma_dl_device;

/** DLDataType. Codes are DLPack's: 0 int, 1 uint, 2 float, 3 opaque handle, 4 bfloat, 5 complex, 6 bool. */
typedef struct soma_dl_datatype {
    uint8_t code;
    uint8_t bits; /**< per lane */
    uint16_t lanes;
} soma_dl_datatype;

/** DLTensor. Shape and strides count elements; `strides` NULL means compact row-major. */
typedef struct soma_dl_tensor {
    void* data;
    soma_dl_device device;
    int32_t ndim;
    soma_dl_datatype dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
} soma_dl_tensor;

/** DLPackVersion. A consumer refuses another major. */
typedef struct soma_dl_version {
    uint32_t major;
    uint32_t minor;
} soma_dl_version;

#define SOMA_DL_FLAG_READ_ONLY ((uint64_t)1)
#define SOMA_DL_FLAG_IS_COPIED ((uint64_t)2)

/** DLManagedTensorVersioned. `deleter` frees the whole struct; it may be NULL when there is nothing to free. */
typedef struct soma_dl_managed {
    soma_dl_version version;
    void* manager_ctx;
    void(SOMA_CALL* deleter)(struct soma_dl_managed* self);
    uint64_t flags; /**< SOMA_DL_FLAG_… */
    soma_dl_tensor tensor;
} soma_dl_managed;

SOMA_EXTERN_C_END

SOMA_STATIC_ASSERT(sizeof(soma_dl_device) == 8 && sizeof(soma_dl_datatype) == 4, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_tensor, device) == 8 && offsetof(soma_dl_tensor, ndim) == 16, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_tensor, dtype) == 20 && offsetof(soma_dl_tensor, shape) == 24, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_tensor, strides) == 32, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_tensor, byte_offset) == 40 && sizeof(soma_dl_tensor) == 48, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_managed, manager_ctx) == 8, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_managed, deleter) == 16, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_managed, flags) == 24, "DLPack layout");
SOMA_STATIC_ASSERT(offsetof(soma_dl_managed, tensor) == 32 && sizeof(soma_dl_managed) == 80, "DLPack layout");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_BASE_H
#define SOMA_ABI_BASE_H
/**
 * @file base.h
 * Version, calling convention, strings and the opaque handles.
 */
#include <stddef.h>
#include <stdint.h>

/** Version of the interface this header describes. Majors must be equal; minors only ever append. */
#define SOMA_ABI_MAJOR 1u
#define SOMA_ABI_MINOR 0u /**< raised when something is appended */

/** Marks the one exported object. */
#if defined(_WIN32)
#define SOMA_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define SOMA_EXPORT __attribute__((visibility("default")))
#else
#define SOMA_EXPORT
#endif

/** Calling convention of every function pointer in the interface. Empty where the platform has one convention. */
#if defined(_WIN32) && !defined(_WIN64)
#define SOMA_CALL __cdecl
#else
#define SOMA_CALL
#endif

#ifdef __cplusplus
#define SOMA_STATIC_ASSERT(condition, text) static_assert(condition, text)
#define SOMA_EXTERN_C_BEGIN extern "C" {
#define SOMA_EXTERN_C_END }
#else
#define SOMA_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define SOMA_EXTERN_C_BEGIN
#define SOMA_EXTERN_C_END
#endif

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the Somatize ABI is little-endian only"
#endif
#endif
SOMA_STATIC_ASSERT(sizeof(void*) == 8, "the Somatize ABI is laid out for 64-bit pointers");

/** True if `field` of `*object` may be read: it ends within the object's own struct_size. */
#define SOMA_HAS(object, type, field) ((object)->struct_size >= offsetof(type, field) + sizeof(((type*)0)->field))

SOMA_EXTERN_C_BEGIN

/** A UTF-8 string: not NUL-terminated unless a comment says so. `data` may be NULL when `size` is 0. Passed by value. */
typedef struct soma_string {
    const char* data; /**< not NUL-terminated unless a comment says so */
    uint64_t size;    /**< bytes */
} soma_string;

/** A string literal as a static initialiser. */
#define SOMA_STR(literal)                                                                                              \
    { (literal), sizeof(literal) - 1 }

/** The host as one plugin sees it. Given at registration, valid until `shutdown` returns. Never freed by the plugin. */
typedef struct soma_host soma_host;
/** An immutable, reference-counted value; see value.h. */
typedef struct soma_value soma_value;
/** Why something failed; NULL is success; see status.h. */
typedef struct soma_status soma_status;
/** A resolved tensor operator; never freed, valid as long as the host; see tensor.h. */
typedef struct soma_operator soma_operator;

/** Where something is. These numbers are frozen; they are not DLPack's and not libtorch's. */
typedef struct soma_place {
    int32_t kind;  /**< SOMA_DEVICE_… */
    int32_t index; /**< 0 where the kind has no index */
} soma_place;

#define SOMA_DEVICE_NONE 0    /**< no device: unplaced, or a value that lives nowhere in particular */
#define SOMA_DEVICE_CPU 1     /**< "cpu" */
#define SOMA_DEVICE_CUDA 2    /**< "cuda:N" */
#define SOMA_DEVICE_META 3    /**< "meta": shapes without data */
#define SOMA_DEVICE_XPU 4     /**< "xpu:N" */
#define SOMA_DEVICE_MPS 5     /**< "mps" */
#define SOMA_DEVICE_HPU 6     /**< "hpu:N" */
#define SOMA_DEVICE_OTHER 255 /**< a device of libtorch that cannot be declared; only its text names it */

SOMA_EXTERN_C_END

#endif

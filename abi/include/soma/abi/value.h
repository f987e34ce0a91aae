/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_VALUE_H
#define SOMA_ABI_VALUE_H
/**
 * @file value.h
 * Kinds of values, and how a plugin makes an opaque one.
 *
 * A `soma_value*` is an immutable, reference-counted handle. Inputs are borrowed for the call: `value_retain` what must
 * live longer. Outputs are new references that the receiver releases. `value_release(NULL)` does nothing.
 */
#include "base.h"

SOMA_EXTERN_C_BEGIN

#define SOMA_KIND_ANY 0u        /**< only in schemas: any kind will do */
#define SOMA_KIND_NONE 1u       /**< says nothing */
#define SOMA_KIND_BOOL 2u       /**< 0 or 1 */
#define SOMA_KIND_INT 3u        /**< 64-bit signed */
#define SOMA_KIND_FLOAT 4u      /**< 64-bit IEEE 754 */
#define SOMA_KIND_STRING 5u     /**< UTF-8, checked when made */
#define SOMA_KIND_BYTES 6u      /**< anything, NULs included */
#define SOMA_KIND_LIST 7u       /**< of any values */
#define SOMA_KIND_DICT 8u       /**< string keys, in the order written, no key twice */
#define SOMA_KIND_TENSOR 9u     /**< on any device, of any dtype */
#define SOMA_KIND_OPAQUE 10u    /**< a plugin's own payload */
#define SOMA_KIND_GENERATOR 11u /**< a source of random numbers on a device */

/**
 * Describes the payloads of one plugin type. Static: it must live as long as the plugin is loaded.
 * A value that carries such a payload keeps the plugin loaded.
 */
typedef struct soma_opaque_type {
    uint32_t struct_size; /**< set by whoever fills the struct */
    uint32_t reserved;    /**< 0 */
    /** Says which type it is, to every plugin that knows it: "vendor.name/revision". */
    soma_string type_id;
    /** Frees the payload when the last reference goes. [any thread] Mandatory. */
    void(SOMA_CALL* destroy)(void* payload);
    /**
     * Where is the payload? Fill `*out`; kind SOMA_DEVICE_NONE if it lives nowhere in particular. [any thread]
     * Optional (NULL): the host then does not check where it is.
     */
    soma_status*(SOMA_CALL* place)(soma_host* host, void* payload, soma_place* out);
} soma_opaque_type;

SOMA_EXTERN_C_END

#endif

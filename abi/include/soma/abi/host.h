/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_HOST_H
#define SOMA_ABI_HOST_H
/**
 * @file host.h
 * The functions a plugin may call.
 *
 * One table for the whole process; every function takes the plugin's own `soma_host*` first, so that a call is known to
 * be that plugin's. Slots are only ever appended. A slot of the table's minor is never NULL: a host built without a
 * capability returns SOMA_UNIMPLEMENTED.
 */
#include "context.h"
#include "node.h"
#include "status.h"
#include "tensor.h"
#include "value.h"

SOMA_EXTERN_C_BEGIN

#define SOMA_LOG_DEBUG 0u   /**< for whoever looks for a fault */
#define SOMA_LOG_INFO 1u    /**< what a user may like to know */
#define SOMA_LOG_WARNING 2u /**< something is odd; the run goes on */
#define SOMA_LOG_ERROR 3u   /**< something failed */

/** The host's functions. Static: valid as long as the plugin is loaded. */
typedef struct soma_api {
    uint32_t struct_size;     /**< of the host's table */
    uint32_t abi_major;       /**< SOMA_ABI_MAJOR of the host: equal to the plugin's, or it were not loaded */
    uint32_t abi_minor;       /**< SOMA_ABI_MINOR of the host: older or newer than the plugin's */
    uint32_t reserved;        /**< 0 */
    const char* host_version; /**< e.g. "somatize 0.1.0", NUL-terminated */

    /**
     * [load] Registers a node type; `type` must live as long as the plugin. Fails with SOMA_INVALID_ARGUMENT when the
     * description is malformed, SOMA_ALREADY_EXISTS when the plugin registered the name before, and
     * SOMA_FAILED_PRECONDITION outside `register_nodes`.
     */
    soma_status*(SOMA_CALL* register_node)(soma_host* host, const soma_node_type* type);
    /** [any thread] The host's table for an extension id such as "soma.torch/1", or NULL. Static, never freed. */
    const void*(SOMA_CALL* get_extension)(soma_host* host, const char* id);
    /** [any thread] Writes a line to the host's log. `node_id` may be empty. Level: SOMA_LOG_…. Never fails. */
    void(SOMA_CALL* log)(soma_host* host, uint32_t level, soma_string node_id, soma_string text);

    /** [any thread] Makes a status. `cause` may be NULL; its ownership passes to the new status. Never fails. */
    soma_status*(SOMA_CALL* status_create)(soma_host* host, uint32_t code, soma_string message, soma_status* cause);
    /** [any thread] SOMA_OK for NULL. */
    uint32_t(SOMA_CALL* status_code)(soma_host* host, const soma_status* status);
    /** [any thread] The message, NUL-terminated; borrowed from the status. Empty for NULL. */
    soma_string(SOMA_CALL* status_message)(soma_host* host, const soma_status* status);
    /** [any thread] Who made it, e.g. "host" or the plugin's name; NUL-terminated; borrowed from the status. */
    soma_string(SOMA_CALL* status_origin)(soma_host* host, const soma_status* status);
    /** [any thread] The cause, borrowed from the status, or NULL. */
    const soma_status*(SOMA_CALL* status_cause)(soma_host* host, const soma_status* status);
    /** [any thread] Frees a status; NULL is allowed. */
    void(SOMA_CALL* status_release)(soma_host* host, soma_status* status);

    /** [any thread] One more reference; returns `value`. NULL is allowed. */
    soma_value*(SOMA_CALL* value_retain)(soma_host* host, soma_value* value);
    /** [any thread] One reference less; NULL is allowed. The last one frees the value, in the thread that gives it up. */
    void(SOMA_CALL* value_release)(soma_host* host, soma_value* value);
    /** [any thread] SOMA_KIND_…; SOMA_KIND_NONE for NULL. */
    uint32_t(SOMA_CALL* value_kind)(soma_host* host, const soma_value* value);

    /* Making. [any thread] `*out` is a new reference, the caller's; it is written on success alone. All copy what they
     * are given, and fail with SOMA_OUT_OF_MEMORY when there is none. */

    /** [any thread] None, the value that says nothing. */
    soma_status*(SOMA_CALL* make_none)(soma_host* host, soma_value** out);
    /** [any thread] A bool: 0 is false, anything else true. */
    soma_status*(SOMA_CALL* make_bool)(soma_host* host, uint32_t value, soma_value** out);
    /** [any thread] An int. */
    soma_status*(SOMA_CALL* make_int)(soma_host* host, int64_t value, soma_value** out);
    /** [any thread] A float; infinities and NaN are floats too. */
    soma_status*(SOMA_CALL* make_float)(soma_host* host, double value, soma_value** out);
    /** [any thread] A string. Fails with SOMA_INVALID_ARGUMENT when the text is not UTF-8. */
    soma_status*(SOMA_CALL* make_string)(soma_host* host, soma_string text, soma_value** out);
    /** [any thread] `size` bytes, NULs included. `data` may be NULL when `size` is 0. */
    soma_status*(SOMA_CALL* make_bytes)(soma_host* host, const void* data, uint64_t size, soma_value** out);
    /** [any thread] A list. Keeps a reference to each item. NULL items become none. */
    soma_status*(SOMA_CALL* make_list)(soma_host* host, soma_value* const* items, uint64_t count, soma_value** out);
    /** [any thread] A dict. Keeps a reference to each value. Fails with SOMA_INVALID_ARGUMENT when a key is there twice
     * or is not UTF-8. */
    soma_status*(SOMA_CALL* make_dict)(soma_host* host, const soma_string* keys, soma_value* const* values,
                                       uint64_t count, soma_value** out);
    /** [any thread] An opaque value. Takes the payload on success; it is destroyed with the last reference. */
    soma_status*(SOMA_CALL* make_opaque)(soma_host* host, const soma_opaque_type* type, void* payload,
                                         soma_value** out);

    /* Reading. [any thread] Another kind than asked for is SOMA_TYPE_MISMATCH, naming both. What is handed out is
     * borrowed from `value` and lives as long as it does. */

    /** [any thread] 0 or 1. */
    soma_status*(SOMA_CALL* get_bool)(soma_host* host, const soma_value* value, uint32_t* out);
    /** [any thread] An int's number. */
    soma_status*(SOMA_CALL* get_int)(soma_host* host, const soma_value* value, int64_t* out);
    /** [any thread] A float's number. An int converts. */
    soma_status*(SOMA_CALL* get_float)(soma_host* host, const soma_value* value, double* out);
    /** [any thread] A string's text, NUL-terminated, borrowed. */
    soma_status*(SOMA_CALL* get_string)(soma_host* host, const soma_value* value, soma_string* out);
    /** [any thread] Bytes, borrowed. */
    soma_status*(SOMA_CALL* get_bytes)(soma_host* host, const soma_value* value, const void** data, uint64_t* size);
    /** [any thread] Number of items of a list, or of entries of a dict. */
    soma_status*(SOMA_CALL* get_size)(soma_host* host, const soma_value* value, uint64_t* out);
    /** [any thread] Item of a list, or value of a dict's entry, by index, borrowed. SOMA_OUT_OF_RANGE past the end. */
    soma_status*(SOMA_CALL* get_item)(soma_host* host, const soma_value* value, uint64_t index, soma_value** out);
    /** [any thread] Key of a dict's entry by index; NUL-terminated, borrowed. SOMA_OUT_OF_RANGE past the end. */
    soma_status*(SOMA_CALL* get_key)(soma_host* host, const soma_value* value, uint64_t index, soma_string* out);
    /** [any thread] Value of a dict by key, borrowed; SOMA_NOT_FOUND offers the nearest key. */
    soma_status*(SOMA_CALL* get_entry)(soma_host* host, const soma_value* value, soma_string key, soma_value** out);
    /** [any thread] Payload of an opaque value, borrowed; another type id is SOMA_TYPE_MISMATCH, naming both. */
    soma_status*(SOMA_CALL* get_opaque)(soma_host* host, const soma_value* value, soma_string type_id, void** payload);

    /** [any thread] Fills `out`, whose struct_size the plugin has set; what it points to is borrowed from `value`. */
    soma_status*(SOMA_CALL* tensor_info)(soma_host* host, const soma_value* value, soma_tensor_info* out);
    /** [any thread] Finds an operator; SOMA_NOT_FOUND offers the nearest name. Slow: do it once, in `create`. */
    soma_status*(SOMA_CALL* op_find)(soma_host* host, soma_string name, soma_string overload,
                                     const soma_operator** out);
    /** [any thread] Calls it. A wrong argument says which, what was expected and what was given; what libtorch throws
     * comes in its words, as SOMA_WRONG_DEVICE, SOMA_OUT_OF_MEMORY and so on where it says so. */
    soma_status*(SOMA_CALL* op_call)(soma_host* host, const soma_operator* op, soma_call* call);
    /** [any thread] The value with every tensor in it on `device`, a new reference; what is there already is shared, not
     * copied. Differentiable. SOMA_UNAVAILABLE when this machine has no such device. */
    soma_status*(SOMA_CALL* value_to)(soma_host* host, soma_value* value, soma_string device, soma_value** out);
    /**
     * [one at a time per instance] Moves a parameter or buffer in place: the handle, and every optimiser that holds it,
     * stays valid; its gradient moves along. Not for tensors on meta, nor to meta: those hold no data
     * (SOMA_FAILED_PRECONDITION).
     */
    soma_status*(SOMA_CALL* state_to)(soma_host* host, soma_value* tensor, soma_string device);
    /** [any thread] Lends the memory; free it with its deleter. Read-only unless `writable`; refuses, by name, what raw
     * memory would lose: gradients being recorded, conjugate and negative bits, sparse and quantised layouts, meta. */
    soma_status*(SOMA_CALL* tensor_to_dlpack)(soma_host* host, soma_value* tensor, uint32_t writable,
                                              soma_dl_managed** out);
    /** [any thread] A tensor over the plugin's memory. Takes `managed` on success and calls its deleter with the last
     * reference, from whatever thread gives it up. */
    soma_status*(SOMA_CALL* tensor_from_dlpack)(soma_host* host, soma_dl_managed* managed, soma_value** out);

    /** [any thread] 1 when the run was cancelled or its time is up: return soon, with any status. */
    uint32_t(SOMA_CALL* cancelled)(soma_host* host, const soma_ctx* ctx);
    /** [any thread] A generator on the node's device seeded with `ctx->seed`, a new reference: the same numbers in every
     * run with the same seed. */
    soma_status*(SOMA_CALL* make_generator)(soma_host* host, const soma_ctx* ctx, soma_value** out);
} soma_api;

SOMA_EXTERN_C_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_HOST_H
#define SOMA_ABI_HOST_H
/**
 * @file host.h
 * The functions a plugin may call.
 *
 * One table for the whole process; every function takes the plugin's own `soma_host*` first, so that a call is known to
 * be that plugin's. Slots are only ever appended. A slot of the table's minor is never NULL: a host built without a
 * capability returns SOMA_UNIMPLEMENTED. All functions are [any thread] unless they say otherwise.
 */
#include "context.h"
#include "node.h"
#include "status.h"
#include "tensor.h"
#include "value.h"

SOMA_EXTERN_C_BEGIN

#define SOMA_LOG_DEBUG 0u
#define SOMA_LOG_INFO 1u
#define SOMA_LOG_WARNING 2u
#define SOMA_LOG_ERROR 3u

/** The host's functions. Static: valid as long as the plugin is loaded. */
typedef struct soma_api {
    uint32_t struct_size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t reserved;
    const char* host_version; /**< e.g. "somatize 0.1.0", NUL-terminated */

    /** [load] Registers a node type; `type` must live as long as the plugin. Fails when the name is malformed or taken. */
    soma_status*(SOMA_CALL* register_node)(soma_host* host, const soma_node_type* type);
    /** The host's table for an extension id such as "soma.torch/1", or NULL. */
    const void*(SOMA_CALL* get_extension)(soma_host* host, const char* id);
    /** Writes a line to the host's log. `node_id` may be empty. Level: SOMA_LOG_…. */
    void(SOMA_CALL* log)(soma_host* host, uint32_t level, soma_string node_id, soma_string text);

    /** Makes a status. `cause` may be NULL; its ownership passes to the new status. Never fails. */
    soma_status*(SOMA_CALL* status_create)(soma_host* host, uint32_t code, soma_string message, soma_status* cause);
    /** SOMA_OK for NULL. */
    uint32_t(SOMA_CALL* status_code)(soma_host* host, const soma_status* status);
    /** The message, NUL-terminated; borrowed from the status. Empty for NULL. */
    soma_string(SOMA_CALL* status_message)(soma_host* host, const soma_status* status);
    /** Who made it, e.g. "host" or the plugin's name; NUL-terminated; borrowed from the status. */
    soma_string(SOMA_CALL* status_origin)(soma_host* host, const soma_status* status);
    /** The cause, borrowed from the status, or NULL. */
    const soma_status*(SOMA_CALL* status_cause)(soma_host* host, const soma_status* status);
    /** Frees a status; NULL is allowed. */
    void(SOMA_CALL* status_release)(soma_host* host, soma_status* status);

    /** One more reference; returns `value`. NULL is allowed. */
    soma_value*(SOMA_CALL* value_retain)(soma_host* host, soma_value* value);
    /** One reference less; NULL is allowed. */
    void(SOMA_CALL* value_release)(soma_host* host, soma_value* value);
    /** SOMA_KIND_…; SOMA_KIND_NONE for NULL. */
    uint32_t(SOMA_CALL* value_kind)(soma_host* host, const soma_value* value);

    soma_status*(SOMA_CALL* make_none)(soma_host* host, soma_value** out);
    soma_status*(SOMA_CALL* make_bool)(soma_host* host, uint32_t value, soma_value** out);
    soma_status*(SOMA_CALL* make_int)(soma_host* host, int64_t value, soma_value** out);
    soma_status*(SOMA_CALL* make_float)(soma_host* host, double value, soma_value** out);
    /** Fails with SOMA_INVALID_ARGUMENT when the text is not UTF-8. */
    soma_status*(SOMA_CALL* make_string)(soma_host* host, soma_string text, soma_value** out);
    soma_status*(SOMA_CALL* make_bytes)(soma_host* host, const void* data, uint64_t size, soma_value** out);
    /** Keeps a reference to each item. NULL items become none. */
    soma_status*(SOMA_CALL* make_list)(soma_host* host, soma_value* const* items, uint64_t count, soma_value** out);
    /** Keeps a reference to each value. Fails when a key is there twice or is not UTF-8. */
    soma_status*(SOMA_CALL* make_dict)(soma_host* host, const soma_string* keys, soma_value* const* values,
                                       uint64_t count, soma_value** out);
    /** Takes the payload on success; it is destroyed with the last reference. */
    soma_status*(SOMA_CALL* make_opaque)(soma_host* host, const soma_opaque_type* type, void* payload,
                                         soma_value** out);

    /* Reading. Another kind than asked for is SOMA_TYPE_MISMATCH, naming both. What is handed out is borrowed from
     * `value` and lives as long as it does. */
    soma_status*(SOMA_CALL* get_bool)(soma_host* host, const soma_value* value, uint32_t* out);
    soma_status*(SOMA_CALL* get_int)(soma_host* host, const soma_value* value, int64_t* out);
    /** An int converts. */
    soma_status*(SOMA_CALL* get_float)(soma_host* host, const soma_value* value, double* out);
    /** NUL-terminated. */
    soma_status*(SOMA_CALL* get_string)(soma_host* host, const soma_value* value, soma_string* out);
    soma_status*(SOMA_CALL* get_bytes)(soma_host* host, const soma_value* value, const void** data, uint64_t* size);
    /** Number of items of a list, or of entries of a dict. */
    soma_status*(SOMA_CALL* get_size)(soma_host* host, const soma_value* value, uint64_t* out);
    /** Item of a list, or value of a dict's entry, by index. */
    soma_status*(SOMA_CALL* get_item)(soma_host* host, const soma_value* value, uint64_t index, soma_value** out);
    /** Key of a dict's entry by index; NUL-terminated. */
    soma_status*(SOMA_CALL* get_key)(soma_host* host, const soma_value* value, uint64_t index, soma_string* out);
    /** Value of a dict by key; SOMA_NOT_FOUND offers the nearest key. */
    soma_status*(SOMA_CALL* get_entry)(soma_host* host, const soma_value* value, soma_string key, soma_value** out);
    /** Payload of an opaque value; another type id is SOMA_TYPE_MISMATCH, naming both. */
    soma_status*(SOMA_CALL* get_opaque)(soma_host* host, const soma_value* value, soma_string type_id, void** payload);

    /** Fills `out`, whose struct_size the plugin has set. */
    soma_status*(SOMA_CALL* tensor_info)(soma_host* host, const soma_value* value, soma_tensor_info* out);
    /** Finds an operator; SOMA_NOT_FOUND offers the nearest name. Slow: do it once, in `create`. */
    soma_status*(SOMA_CALL* op_find)(soma_host* host, soma_string name, soma_string overload,
                                     const soma_operator** out);
    /** Calls it. A wrong argument says which, what was expected and what was given. */
    soma_status*(SOMA_CALL* op_call)(soma_host* host, const soma_operator* op, soma_call* call);
    /** The value with every tensor in it on `device`; what is there already is shared, not copied. Differentiable. */
    soma_status*(SOMA_CALL* value_to)(soma_host* host, soma_value* value, soma_string device, soma_value** out);
    /**
     * Moves a parameter or buffer in place: the handle, and every optimiser that holds it, stays valid; its gradient
     * moves along. Not for tensors on meta, nor to meta: those hold no data. [one at a time per instance]
     */
    soma_status*(SOMA_CALL* state_to)(soma_host* host, soma_value* tensor, soma_string device);
    /** Lends the memory; free it with its deleter. Read-only unless `writable`; refuses, by name, what raw memory would
     * lose: gradients being recorded, conjugate and negative bits, sparse and quantised layouts, meta. */
    soma_status*(SOMA_CALL* tensor_to_dlpack)(soma_host* host, soma_value* tensor, uint32_t writable,
                                              soma_dl_managed** out);
    /** A tensor over the plugin's memory. Takes `managed` on success and calls its deleter with the last reference. */
    soma_status*(SOMA_CALL* tensor_from_dlpack)(soma_host* host, soma_dl_managed* managed, soma_value** out);

    /** 1 when the run was cancelled or its time is up: return soon, with any status. */
    uint32_t(SOMA_CALL* cancelled)(soma_host* host, const soma_ctx* ctx);
    /** A generator on the node's device seeded with `ctx->seed`: the same numbers in every run with the same seed. */
    soma_status*(SOMA_CALL* make_generator)(soma_host* host, const soma_ctx* ctx, soma_value** out);
} soma_api;

SOMA_EXTERN_C_END

SOMA_STATIC_ASSERT(offsetof(soma_api, host_version) == 16 && offsetof(soma_api, register_node) == 24, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_api, status_create) == 48 && offsetof(soma_api, value_retain) == 96, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_api, make_none) == 120 && offsetof(soma_api, get_bool) == 192, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_api, tensor_info) == 272 && offsetof(soma_api, cancelled) == 328, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_api, make_generator) == 336 && sizeof(soma_api) == 344, "layout");

#endif

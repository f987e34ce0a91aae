/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_NODE_H
#define SOMA_ABI_NODE_H
/**
 * @file node.h
 * A node type: what it is called, how it is configured, and the functions that make and run its instances.
 */
#include "context.h"
#include "value.h"

SOMA_EXTERN_C_BEGIN

#define SOMA_CONFIG_REQUIRED 1u /**< the field has no default and must be given */

/** One field of a node's configuration. Numbers and choices are JSON text so that the struct can be static data. */
typedef struct soma_config_field {
    uint32_t struct_size;     /**< set by whoever fills the struct */
    uint32_t kind;            /**< SOMA_KIND_BOOL … SOMA_KIND_DICT, or SOMA_KIND_ANY */
    uint32_t flags;           /**< SOMA_CONFIG_… */
    uint32_t reserved;        /**< 0 */
    soma_string name;         /**< the key */
    soma_string doc;          /**< one sentence */
    soma_string default_json; /**< the value when absent, e.g. "256"; empty means none */
    soma_string choices_json; /**< a JSON list of the only values allowed; empty means any */
    soma_string minimum_json; /**< smallest number allowed; empty means unbounded */
    soma_string maximum_json; /**< largest number allowed; empty means unbounded */
} soma_config_field;

/** Documents an input or the output. Several inputs arrive as one dict with the ports' names as keys. */
typedef struct soma_port {
    uint32_t struct_size; /**< set by whoever fills the struct */
    uint32_t kind;        /**< SOMA_KIND_…; SOMA_KIND_ANY when several will do */
    soma_string name;     /**< the key, when there are several */
    soma_string doc;      /**< one sentence */
} soma_port;

/** What `create` is told. Borrowed for the call. */
typedef struct soma_create_info {
    uint32_t struct_size;  /**< set by the host */
    uint32_t reserved;     /**< 0 */
    soma_string node_id;   /**< NUL-terminated */
    soma_value* config;    /**< a dict: checked against the schema, defaults filled in */
    const char* device;    /**< where the node is placed now, NUL-terminated; NULL when unplaced. It may move later. */
    soma_place place;      /**< the same in numbers */
    uint64_t seed;         /**< for initial weights: the same for the same node id and pipeline seed */
    const void* type_data; /**< `type_data` of the node type */
} soma_create_info;

#define SOMA_OUTCOME_DONE 1u    /**< `value` is the result */
#define SOMA_OUTCOME_YIELD 2u   /**< reserved */
#define SOMA_OUTCOME_PENDING 3u /**< reserved */

/** What `forward` gives back. The struct is the host's; the references put into it become the host's. */
typedef struct soma_outcome {
    uint32_t struct_size; /**< set by the host */
    uint32_t kind;        /**< SOMA_OUTCOME_DONE unless changed; an unknown kind fails the node */
    soma_value* value;    /**< the result; leaving it NULL fails the node */
    soma_value* saved;    /**< for `backward`: anything, or NULL */
} soma_outcome;

#define SOMA_STATE_PARAMETER 1u /**< trained by an optimiser */
#define SOMA_STATE_BUFFER 2u    /**< moves and is saved with the node, not trained */

/** One named tensor of an instance. */
typedef struct soma_state {
    uint32_t struct_size; /**< set by the host */
    uint32_t role;        /**< SOMA_STATE_… */
    uint32_t persistent;  /**< 1: part of a saved state */
    uint32_t reserved;    /**< 0 */
    soma_string name;     /**< borrowed while the instance lives */
    soma_value* value;    /**< borrowed while the instance lives and `state_set` is not called */
} soma_state;

#define SOMA_NODE_REENTRANT 1ull      /**< `forward` may be entered by several threads at once */
#define SOMA_NODE_DIFFERENTIABLE 2ull /**< gradients flow from the result's tensors to the input's and the parameters */
#define SOMA_NODE_NOT_SMOOTH 4ull     /**< differentiable, but numerical gradients need not agree */
#define SOMA_NODE_RANDOM 8ull         /**< the result depends on `ctx.seed` */

/**
 * A node type. The struct and what it points to must live as long as the plugin is loaded. `self` is the instance that
 * `create` made. Functions are [one at a time per instance] unless they say otherwise.
 */
typedef struct soma_node_type {
    uint32_t struct_size; /**< set by whoever fills the struct */
    uint32_t version;     /**< of this type's behaviour, stored in graphs; from 1 */
    soma_string name;     /**< "family.name", e.g. "nn.linear": lower case letters, digits and _ in each part */
    soma_string doc;      /**< first line: one sentence */
    const soma_config_field* config; /**< `config_count` fields */
    uint32_t config_count;           /**< 0 for a node without configuration */
    uint32_t config_stride;          /**< sizeof(soma_config_field) as compiled */
    const soma_port* inputs;         /**< `input_count` ports */
    uint32_t input_count;            /**< 0 when undocumented */
    uint32_t input_stride;           /**< sizeof(soma_port) as compiled */
    const soma_port* outputs;        /**< `output_count` ports */
    uint32_t output_count;           /**< 0 when undocumented */
    uint32_t output_stride;          /**< sizeof(soma_port) as compiled */
    uint64_t flags;                  /**< SOMA_NODE_… */
    soma_string example_json; /**< an input to try the node with; tensors as {"tensor": nested list, "dtype": name} */
    const void* type_data;    /**< handed to `create` */

    /** Makes an instance. [any thread] Mandatory. */
    soma_status*(SOMA_CALL* create)(soma_host* host, const soma_create_info* info, void** self);
    /** Frees it. Mandatory. */
    void(SOMA_CALL* destroy)(void* self);
    /** Runs it: obey `ctx->device`. [any thread] when re-entrant. Mandatory. */
    soma_status*(SOMA_CALL* forward)(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome);

    /** How many tensors the instance holds. Optional: none. */
    uint32_t(SOMA_CALL* state_count)(void* self);
    /** The `index`-th of them. Mandatory when `state_count` is there. */
    soma_status*(SOMA_CALL* state_at)(void* self, uint32_t index, soma_state* out);
    /** Replaces a tensor by name; `value` is borrowed. Optional: state cannot be loaded, nor the node run on meta. */
    soma_status*(SOMA_CALL* state_set)(void* self, soma_string name, soma_value* value);
    /** The node was placed elsewhere (NULL: unplaced): move the state now. Optional: the next `forward` will. */
    soma_status*(SOMA_CALL* moved)(void* self, const char* device);

    /**
     * Gradients of a node that computed with raw memory. Given what `forward` saved and a list of the gradients of the
     * result's tensors in order of appearance (none where there is none), gives a list with one gradient for every
     * tensor of the input in order of appearance, then one for every PARAMETER in `state_at` order; none where there is
     * none. [any thread], autograd's own, perhaps after the pipeline is gone; the instance and the plugin still live.
     * Optional: autograd sees what the dispatcher recorded.
     */
    soma_status*(SOMA_CALL* backward)(soma_host* host, soma_value* saved, soma_value* grads, soma_value** out);
    /** An extension's table for this type, or NULL. [any thread] Optional. */
    const void*(SOMA_CALL* get_extension)(const char* id);
} soma_node_type;

SOMA_EXTERN_C_END

#endif

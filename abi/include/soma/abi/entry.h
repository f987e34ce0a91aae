/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_ENTRY_H
#define SOMA_ABI_ENTRY_H
/**
 * @file entry.h
 * The one object a plugin exports.
 *
 * Rationale: an object, not a function, so that the host can judge magic, versions and features before it runs a single
 * line of the plugin.
 */
#include "host.h"

SOMA_EXTERN_C_BEGIN

/** The 8 bytes that say "this is a Somatize plugin": 'S' 'O' 'M' 'A' 'P' 'L' 'U' 'G'. */
#define SOMA_PLUGIN_MAGIC                                                                                              \
    { 0x53, 0x4f, 0x4d, 0x41, 0x50, 0x4c, 0x55, 0x47 }

/** Gives a bit of `required_features` a name for error messages. */
typedef struct soma_feature_name {
    uint32_t struct_size; /**< set by whoever fills the struct */
    uint32_t bit;         /**< 0 to 63 */
    soma_string name;     /**< e.g. "acme-sparse" */
} soma_feature_name;

/** Who made the plugin. Static. Empty strings where there is nothing to say; `name` is mandatory. */
typedef struct soma_plugin_info {
    uint32_t struct_size;                   /**< set by whoever fills the struct */
    uint32_t feature_name_count;            /**< how many names follow */
    soma_string name;                       /**< e.g. "acme-text" */
    soma_string version;                    /**< the plugin's own */
    soma_string doc;                        /**< one sentence */
    soma_string author;                     /**< a person or an organisation */
    soma_string license;                    /**< an SPDX expression */
    soma_string url;                        /**< where to read more */
    const soma_feature_name* feature_names; /**< `feature_name_count` of them */
    uint32_t feature_name_stride;           /**< sizeof(soma_feature_name) as compiled */
    uint32_t reserved;                      /**< 0 */
} soma_plugin_info;

/** The entry object. Its first 32 bytes, up to and including `required_features`, are frozen for ever. */
typedef struct soma_entry {
    uint8_t magic[8];             /**< SOMA_PLUGIN_MAGIC */
    uint32_t struct_size;         /**< the one struct whose size is not its first field: the magic is */
    uint32_t abi_major;           /**< SOMA_ABI_MAJOR; must equal the host's */
    uint32_t min_host_minor;      /**< the oldest host minor the plugin works with; mostly 0 */
    uint32_t built_minor;         /**< SOMA_ABI_MINOR; information, never a requirement */
    uint64_t required_features;   /**< bits the host must know; 0 for most */
    const soma_plugin_info* info; /**< who made it; mandatory */
    /** Registers the node types with `api->register_node`. [load] A failure refuses the whole plugin. Mandatory. */
    soma_status*(SOMA_CALL* register_nodes)(const soma_api* api, soma_host* host);
    /**
     * Called once, after everything of the plugin is gone and before it is unloaded: join your threads here. Only when
     * `register_nodes` succeeded. [load] Optional.
     */
    void(SOMA_CALL* shutdown)(void);
    /** A table for an extension id, or NULL. [any thread] Optional. */
    const void*(SOMA_CALL* get_extension)(const char* id);
} soma_entry;

/** The symbol a plugin defines: `const soma_entry soma_plugin_entry = {…};`. */
extern SOMA_EXPORT const soma_entry soma_plugin_entry;

SOMA_EXTERN_C_END

#endif

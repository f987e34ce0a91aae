/* SPDX-License-Identifier: Apache-2.0 */
/* Gives `twice.node`, as another plugin does too, and one of its own. */
#include <stdlib.h>

#include "soma/abi.h"

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    static char instance;
    (void)host;
    (void)info;
    *self = &instance;
    return NULL;
}
static void SOMA_CALL destroy(void* self) { (void)self; }
static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)self, (void)ctx, (void)input, (void)outcome;
    return NULL;
}

static const soma_node_type types[] = {
    {.struct_size = sizeof(soma_node_type),
     .version = TWICE_VERSION,
     .name = SOMA_STR(TWICE_OWN),
     .create = create,
     .destroy = destroy,
     .forward = forward},
    {.struct_size = sizeof(soma_node_type),
     .version = TWICE_VERSION,
     .name = SOMA_STR("twice.node"),
     .create = create,
     .destroy = destroy,
     .forward = forward},
};

static soma_status* SOMA_CALL register_nodes(const soma_api* api, soma_host* host) {
    soma_status* status = api->register_node(host, &types[0]);
    return status != NULL ? status : api->register_node(host, &types[1]);
}

static const soma_plugin_info info = {.struct_size = sizeof(soma_plugin_info), .name = SOMA_STR(TWICE_NAME)};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <soma/abi.h>

static const soma_api* api;
static soma_host* host;
static char instance;

static soma_status* create(soma_host* maker, const soma_create_info* info, void** self) {
    (void)maker;
    (void)info;
    *self = &instance;
    return NULL;
}

static void destroy(void* self) { (void)self; }

static soma_status* forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)self;
    (void)ctx;
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static const soma_node_type same = {
    .struct_size = sizeof(soma_node_type),
    .version = 1,
    .name = SOMA_STR("outsider.same"),
    .doc = SOMA_STR("Gives back what it gets."),
    .flags = SOMA_NODE_REENTRANT,
    .create = create,
    .destroy = destroy,
    .forward = forward,
};

static soma_status* register_nodes(const soma_api* given_api, soma_host* given_host) {
    api = given_api;
    host = given_host;
    return api->register_node(host, &same);
}

static const soma_plugin_info info = {
    .struct_size = sizeof(soma_plugin_info),
    .name = SOMA_STR("outsider"),
    .version = SOMA_STR("1.0"),
    .doc = SOMA_STR("Built against the installed package."),
};

const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
};

/* Visible to the compiler, and yet it must not leave the plugin. */
__attribute__((visibility("default"))) int outsider_helper(void);
int outsider_helper(void) { return 1; }

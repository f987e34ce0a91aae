/* SPDX-License-Identifier: Apache-2.0 */
/* As built with a minor in which every struct ended where its mandatory part does. What follows in memory is not the
 * structs' and would crash a host that took it for a part of them. */
#include "soma/abi.h"

#define POISON ((const char*)(uintptr_t)0xdead)

typedef struct old_info {
    uint32_t struct_size;
    uint32_t feature_name_count;
    soma_string name;
    const char* beyond[12];
} old_info;

typedef struct old_entry {
    uint8_t magic[8];
    uint32_t struct_size;
    uint32_t abi_major;
    uint32_t min_host_minor;
    uint32_t built_minor;
    uint64_t required_features;
    const old_info* info;
    soma_status*(SOMA_CALL* register_nodes)(const soma_api* api, soma_host* host);
} old_entry;

typedef struct old_field {
    uint32_t struct_size;
    uint32_t kind;
    uint32_t flags;
    uint32_t reserved;
    soma_string name;
} old_field;

typedef struct old_port {
    uint32_t struct_size;
    uint32_t kind;
    soma_string name;
} old_port;

typedef struct old_type {
    unsigned char bytes[offsetof(soma_node_type, state_count)];
    const char* beyond[16];
} old_type;

static const soma_api* api;
static soma_host* the_host;
static char instance;

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    soma_value* number = NULL;
    const soma_string key = SOMA_STR("number");
    soma_status* status = api->get_entry(host, info->config, key, &number);
    if (status == NULL) *self = &instance;
    return status;
}

static void SOMA_CALL destroy(void* self) { (void)self; }

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)self;
    (void)ctx;
    outcome->value = api->value_retain(the_host, input);
    return NULL;
}

static const old_field fields[] = {
    {sizeof(old_field), SOMA_KIND_INT, 0, 0, SOMA_STR("number")},
    {sizeof(old_field), SOMA_KIND_STRING, 0, 0, SOMA_STR("text")},
};
static const old_port ports[] = {{sizeof(old_port), SOMA_KIND_ANY, SOMA_STR("input")}};

static union {
    soma_node_type type;
    old_type old;
} older;

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    size_t i;
    soma_string name = SOMA_STR("older.echo");
    api = given;
    the_host = host;
    for (i = 0; i < sizeof older.old.beyond / sizeof older.old.beyond[0]; ++i) older.old.beyond[i] = POISON;
    older.type.struct_size = offsetof(soma_node_type, state_count);
    older.type.version = 1;
    older.type.name = name;
    older.type.config = (const soma_config_field*)(const void*)fields;
    older.type.config_count = 2;
    older.type.config_stride = sizeof(old_field);
    older.type.inputs = (const soma_port*)(const void*)ports;
    older.type.input_count = 1;
    older.type.input_stride = sizeof(old_port);
    older.type.create = create;
    older.type.destroy = destroy;
    older.type.forward = forward;
    return api->register_node(host, &older.type);
}

static const old_info info = {
    offsetof(old_info, beyond),
    0,
    SOMA_STR("older"),
    {POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON}};

/* Under the name that the loader looks for, whatever the type. */
extern SOMA_EXPORT const old_entry older_entry __asm__("soma_plugin_entry");
const old_entry older_entry = {SOMA_PLUGIN_MAGIC, sizeof(old_entry), SOMA_ABI_MAJOR, 0, 0, 0, &info, register_nodes};

/* SPDX-License-Identifier: Apache-2.0 */
/* As built with a minor of years to come, in which every struct has grown, but which needs no more of the host than the
 * first minor gives. */
#include "soma/abi.h"

#define LATER 500u
#define GROWN(name, type)                                                                                              \
    typedef struct name {                                                                                              \
        type now;                                                                                                      \
        const char* later[6];                                                                                          \
    } name

GROWN(new_info, soma_plugin_info);
GROWN(new_field, soma_config_field);
GROWN(new_port, soma_port);
GROWN(new_type, soma_node_type);
GROWN(new_opaque, soma_opaque_type);
GROWN(new_tensor_info, soma_tensor_info);

typedef struct new_entry {
    soma_entry now;
    const char* later[6];
} new_entry;

static const soma_api* api;
static soma_host* the_host;
static char instance;

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    soma_value* text = NULL;
    const soma_string key = SOMA_STR("text");
    soma_status* status = api->get_entry(host, info->config, key, &text);
    if (status == NULL) *self = &instance;
    return status;
}

static void SOMA_CALL destroy(void* self) { (void)self; }
static void SOMA_CALL destroy_payload(void* payload) { (void)payload; }

static const new_opaque payload_type = {{sizeof(new_opaque), 0, SOMA_STR("test.newer/1"), destroy_payload, NULL},
                                        {"later"}};

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)ctx;
    (void)input;
    return api->make_opaque(the_host, &payload_type.now, self, &outcome->value);
}

static const new_field fields[] = {
    {{sizeof(new_field),
      SOMA_KIND_STRING,
      0,
      0,
      SOMA_STR("text"),
      SOMA_STR("a text"),
      SOMA_STR("\"as it is\""),
      {NULL, 0},
      {NULL, 0},
      {NULL, 0}},
     {"later"}},
    {{sizeof(new_field),
      SOMA_KIND_INT,
      0,
      0,
      SOMA_STR("number"),
      SOMA_STR("a number"),
      SOMA_STR("3"),
      {NULL, 0},
      {NULL, 0},
      {NULL, 0}},
     {"later"}},
};
static const new_port inputs[] = {{{sizeof(new_port), SOMA_KIND_ANY, SOMA_STR("a"), SOMA_STR("")}, {"later"}},
                                  {{sizeof(new_port), SOMA_KIND_ANY, SOMA_STR("b"), SOMA_STR("")}, {"later"}}};

static const new_type type = {{.struct_size = sizeof(new_type),
                               .version = 3,
                               .name = SOMA_STR("newer.payload"),
                               .config = &fields[0].now,
                               .config_count = 2,
                               .config_stride = sizeof(new_field),
                               .inputs = &inputs[0].now,
                               .input_count = 2,
                               .input_stride = sizeof(new_port),
                               .flags = SOMA_NODE_REENTRANT | 1ull << 60, /* a flag of tomorrow */
                               .create = create,
                               .destroy = destroy,
                               .forward = forward},
                              {"later"}};

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    api = given;
    the_host = host;
    return api->register_node(host, &type.now);
}

static const new_info info = {{.struct_size = sizeof(new_info), .name = SOMA_STR("newer"), .version = SOMA_STR("9")},
                              {"later"}};

/* Under the name that the loader looks for, whatever the type. */
extern SOMA_EXPORT const new_entry newer_entry __asm__("soma_plugin_entry");
const new_entry newer_entry = {{.magic = SOMA_PLUGIN_MAGIC,
                                .struct_size = sizeof(new_entry),
                                .abi_major = SOMA_ABI_MAJOR,
                                .min_host_minor = 0,
                                .built_minor = LATER,
                                .info = &info.now,
                                .register_nodes = register_nodes},
                               {"later"}};

/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that do next to nothing, for measuring what running a node costs. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime and nanosleep */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "soma/abi.h"

static const soma_api* api;
static soma_host* host;

typedef struct node {
    int64_t amount; /* microseconds, or turns of a loop */
} node;

static soma_status* create(soma_host* h, const soma_create_info* info, void** self) {
    (void)info;
    *self = calloc(1, sizeof(node));
    if (*self != NULL) return NULL;
    const soma_string text = SOMA_STR("no memory for a node");
    return api->status_create(h, SOMA_OUT_OF_MEMORY, text, NULL);
}

static soma_status* create_with(soma_host* h, const soma_create_info* info, soma_string key, void** self) {
    soma_value* value = NULL;
    soma_status* status = create(h, info, self);
    if (status == NULL) status = api->get_entry(h, info->config, key, &value);
    if (status == NULL) status = api->get_int(h, value, &((node*)*self)->amount);
    if (status != NULL) free(*self);
    return status;
}

static soma_status* create_timed(soma_host* h, const soma_create_info* info, void** self) {
    const soma_string key = SOMA_STR("us");
    return create_with(h, info, key, self);
}

static soma_status* create_counted(soma_host* h, const soma_create_info* info, void** self) {
    const soma_string key = SOMA_STR("loops");
    return create_with(h, info, key, self);
}

static void destroy(void* self) { free(self); }

static soma_status* noop(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)self;
    (void)ctx;
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static soma_status* first(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)self;
    (void)ctx;
    if (api->value_kind(host, input) == SOMA_KIND_LIST) {
        soma_status* status = api->get_item(host, input, 0, &input);
        if (status != NULL) return status;
    }
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static soma_status* meet(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    static atomic_uint arrivals;
    const unsigned both = (atomic_fetch_add(&arrivals, 1) | 1U) + 1;
    (void)self;
    (void)ctx;
    while ((int)(atomic_load(&arrivals) - both) < 0) {
#if defined(__x86_64__)
        __asm__ volatile("pause");
#endif
    }
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static soma_status* work(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    const int64_t loops = ((const node*)self)->amount;
    (void)ctx;
    uint64_t x = 0;
    for (int64_t i = 0; i < loops; ++i) {
        /* Each turn waits for the one before: where two threads share a core, neither takes anything from the other. */
        x = x * UINT64_C(6364136223846793005) + 1;
        __asm__ volatile("" : "+r"(x));
    }
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static soma_status* spin(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    const int64_t end = now() + ((const node*)self)->amount * 1000;
    (void)ctx;
    while (now() < end) {
    }
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static soma_status* wait_for(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    const int64_t us = ((const node*)self)->amount;
    const struct timespec t = {us / 1000000, us % 1000000 * 1000};
    (void)ctx;
    nanosleep(&t, NULL);
    outcome->value = api->value_retain(host, input);
    return NULL;
}

static const soma_config_field timed[] = {{.struct_size = sizeof(soma_config_field),
                                           .kind = SOMA_KIND_INT,
                                           .name = SOMA_STR("us"),
                                           .doc = SOMA_STR("microseconds a forward takes"),
                                           .default_json = SOMA_STR("0"),
                                           .minimum_json = SOMA_STR("0")}};
static const soma_config_field counted[] = {{.struct_size = sizeof(soma_config_field),
                                             .kind = SOMA_KIND_INT,
                                             .name = SOMA_STR("loops"),
                                             .doc = SOMA_STR("turns of an empty loop that a forward takes"),
                                             .default_json = SOMA_STR("0"),
                                             .minimum_json = SOMA_STR("0")}};

#define COMMON .struct_size = sizeof(soma_node_type), .version = 1, .destroy = destroy
#define PLAIN .create = create
#define TIMED .create = create_timed, .config = timed, .config_count = 1, .config_stride = sizeof(soma_config_field)
#define COUNTED                                                                                                        \
    .create = create_counted, .config = counted, .config_count = 1, .config_stride = sizeof(soma_config_field)

static const soma_node_type types[] = {
    {COMMON, PLAIN, .name = SOMA_STR("bench.noop"), .doc = SOMA_STR("Returns its input."), .flags = SOMA_NODE_REENTRANT,
     .forward = noop},
    {COMMON, PLAIN, .name = SOMA_STR("bench.solo"),
     .doc = SOMA_STR("Returns its input; entered by one thread at a time."), .forward = noop},
    {COMMON, PLAIN, .name = SOMA_STR("bench.first"), .doc = SOMA_STR("Returns the first item of a list, or its input."),
     .flags = SOMA_NODE_REENTRANT, .forward = first},
    {COMMON, PLAIN, .name = SOMA_STR("bench.meet"),
     .doc = SOMA_STR("Waits for another node of its type, then returns its input."), .flags = SOMA_NODE_REENTRANT,
     .forward = meet},
    {COMMON, COUNTED, .name = SOMA_STR("bench.work"), .doc = SOMA_STR("Computes nothing, then returns its input."),
     .flags = SOMA_NODE_REENTRANT, .forward = work},
    {COMMON, TIMED, .name = SOMA_STR("bench.spin"), .doc = SOMA_STR("Keeps a core busy, then returns its input."),
     .flags = SOMA_NODE_REENTRANT, .forward = spin},
    {COMMON, TIMED, .name = SOMA_STR("bench.stage"),
     .doc = SOMA_STR("Keeps a core busy, then returns its input; entered by one thread at a time."), .forward = spin},
    {COMMON, TIMED, .name = SOMA_STR("bench.remote"),
     .doc = SOMA_STR("Waits as for a device, then returns its input; entered by one thread at a time."),
     .forward = wait_for},
};

static soma_status* register_nodes(const soma_api* table, soma_host* h) {
    api = table;
    host = h;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        soma_status* status = api->register_node(h, &types[i]);
        if (status != NULL) return status;
    }
    return NULL;
}

static const soma_plugin_info info = {.struct_size = sizeof(soma_plugin_info),
                                      .name = SOMA_STR("bench"),
                                      .version = SOMA_STR("1.0.0"),
                                      .doc = SOMA_STR("Nodes for measuring what a node costs.")};

const soma_entry soma_plugin_entry = {.magic = SOMA_PLUGIN_MAGIC,
                                      .struct_size = sizeof(soma_entry),
                                      .abi_major = SOMA_ABI_MAJOR,
                                      .built_minor = SOMA_ABI_MINOR,
                                      .info = &info,
                                      .register_nodes = register_nodes};

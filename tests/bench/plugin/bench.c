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

static soma_status* read_amount(soma_host* h, const soma_value* config, soma_string key, int64_t* out) {
    soma_value* value = NULL;
    soma_status* status = api->get_entry(h, config, key, &value);
    if (status == NULL) return api->get_int(h, value, out);
    if (api->status_code(h, status) != SOMA_NOT_FOUND) return status;
    api->status_release(h, status);
    return NULL;
}

static soma_status* create(soma_host* h, const soma_create_info* info, void** self) {
    node* made = calloc(1, sizeof *made);
    if (made == NULL) {
        const soma_string text = SOMA_STR("no memory for a node");
        return api->status_create(h, SOMA_OUT_OF_MEMORY, text, NULL);
    }
    const soma_string us = SOMA_STR("us");
    const soma_string loops = SOMA_STR("loops");
    soma_status* status = read_amount(h, info->config, us, &made->amount);
    if (status == NULL) status = read_amount(h, info->config, loops, &made->amount);
    if (status != NULL) {
        free(made);
        return status;
    }
    *self = made;
    return NULL;
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
    for (int64_t i = 0; i < loops; ++i) __asm__ volatile("");
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

#define COMMON .struct_size = sizeof(soma_node_type), .version = 1, .create = create, .destroy = destroy
#define TIMED .config = timed, .config_count = 1, .config_stride = sizeof(soma_config_field)
#define COUNTED .config = counted, .config_count = 1, .config_stride = sizeof(soma_config_field)

static const soma_node_type types[] = {
    {COMMON, .name = SOMA_STR("bench.noop"), .doc = SOMA_STR("Returns its input."), .flags = SOMA_NODE_REENTRANT,
     .forward = noop},
    {COMMON, .name = SOMA_STR("bench.solo"), .doc = SOMA_STR("Returns its input; entered by one thread at a time."),
     .forward = noop},
    {COMMON, .name = SOMA_STR("bench.first"), .doc = SOMA_STR("Returns the first item of a list, or its input."),
     .flags = SOMA_NODE_REENTRANT, .forward = first},
    {COMMON, .name = SOMA_STR("bench.meet"),
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

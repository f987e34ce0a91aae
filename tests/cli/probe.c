/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that the tests of the program need: one that answers, one that fails, one that takes its time. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "soma/abi.h"

static const soma_api* api;

typedef struct probe {
    soma_host* host;
    double seconds;
    uint32_t deaf;
    char touch[512];
    char message[512];
} probe;

static soma_status* read_number(soma_host* host, soma_value* config, const char* key, double* out) {
    soma_value* value = NULL;
    const soma_string name = {key, strlen(key)};
    soma_status* status = api->get_entry(host, config, name, &value);
    return status != NULL ? status : api->get_float(host, value, out);
}

static soma_status* read_bool(soma_host* host, soma_value* config, const char* key, uint32_t* out) {
    soma_value* value = NULL;
    const soma_string name = {key, strlen(key)};
    soma_status* status = api->get_entry(host, config, name, &value);
    return status != NULL ? status : api->get_bool(host, value, out);
}

static soma_status* read_text(soma_host* host, soma_value* config, const char* key, char* out, size_t capacity) {
    soma_value* value = NULL;
    soma_string text;
    const soma_string name = {key, strlen(key)};
    soma_status* status = api->get_entry(host, config, name, &value);
    if (status != NULL) return status;
    status = api->get_string(host, value, &text);
    if (status != NULL) return status;
    if (text.size >= capacity) {
        const soma_string why = SOMA_STR("the text is too long");
        return api->status_create(host, SOMA_INVALID_ARGUMENT, why, NULL);
    }
    memcpy(out, text.data, (size_t)text.size);
    return NULL;
}

static soma_status* SOMA_CALL create_echo(soma_host* host, const soma_create_info* info, void** self) {
    (void)info;
    probe* made = calloc(1, sizeof *made);
    made->host = host;
    *self = made;
    return NULL;
}

static soma_status* SOMA_CALL create_wait(soma_host* host, const soma_create_info* info, void** self) {
    probe* made = calloc(1, sizeof *made);
    made->host = host;
    soma_status* status = read_number(host, info->config, "seconds", &made->seconds);
    if (status == NULL) status = read_bool(host, info->config, "deaf", &made->deaf);
    if (status == NULL) status = read_text(host, info->config, "touch", made->touch, sizeof made->touch);
    if (status != NULL) {
        free(made);
        return status;
    }
    *self = made;
    return NULL;
}

static soma_status* SOMA_CALL create_fail(soma_host* host, const soma_create_info* info, void** self) {
    probe* made = calloc(1, sizeof *made);
    made->host = host;
    soma_status* status = read_text(host, info->config, "message", made->message, sizeof made->message);
    if (status != NULL) {
        free(made);
        return status;
    }
    *self = made;
    return NULL;
}

static void SOMA_CALL destroy(void* self) { free(self); }

static soma_status* SOMA_CALL echo(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)ctx;
    outcome->value = api->value_retain(((probe*)self)->host, input);
    return NULL;
}

static soma_status* SOMA_CALL fail(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)ctx;
    (void)input;
    (void)outcome;
    const probe* node = self;
    const soma_string message = {node->message, strlen(node->message)};
    return api->status_create(node->host, SOMA_UNAVAILABLE, message, NULL);
}

/* Says that it is running by making a file, then waits for its time to pass or the run to be cancelled. */
static soma_status* SOMA_CALL wait(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    const probe* node = self;
    if (node->touch[0] != '\0') {
        const int file = open(node->touch, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (file >= 0) close(file);
    }
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        struct timespec now;
        const struct timespec nap = {0, 2000000};
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 >= node->seconds) break;
        if (node->deaf == 0 && api->cancelled(node->host, ctx) != 0) {
            const soma_string why = SOMA_STR("stopped waiting");
            return api->status_create(node->host, SOMA_CANCELLED, why, NULL);
        }
        nanosleep(&nap, NULL);
    }
    outcome->value = api->value_retain(node->host, input);
    return NULL;
}

static const soma_config_field wait_config[] = {
    {.struct_size = sizeof(soma_config_field),
     .kind = SOMA_KIND_FLOAT,
     .name = SOMA_STR("seconds"),
     .doc = SOMA_STR("how long to wait"),
     .default_json = SOMA_STR("60.0"),
     .minimum_json = SOMA_STR("0"),
     .maximum_json = SOMA_STR("600")},
    {.struct_size = sizeof(soma_config_field),
     .kind = SOMA_KIND_STRING,
     .name = SOMA_STR("touch"),
     .doc = SOMA_STR("a file to make when the waiting begins"),
     .default_json = SOMA_STR("\"\"")},
    {.struct_size = sizeof(soma_config_field),
     .kind = SOMA_KIND_BOOL,
     .name = SOMA_STR("deaf"),
     .doc = SOMA_STR("goes on waiting when the run is cancelled"),
     .default_json = SOMA_STR("false")},
};

static const soma_config_field fail_config[] = {
    {.struct_size = sizeof(soma_config_field),
     .kind = SOMA_KIND_STRING,
     .flags = SOMA_CONFIG_REQUIRED,
     .name = SOMA_STR("message"),
     .doc = SOMA_STR("what to fail with"),
     .choices_json = SOMA_STR("[\"no paper\", \"on fire\"]")},
};

static const soma_port any_port[] = {
    {.struct_size = sizeof(soma_port), .kind = SOMA_KIND_ANY, .name = SOMA_STR("x"), .doc = SOMA_STR("anything")}};

static const soma_node_type types[] = {
    {.struct_size = sizeof(soma_node_type),
     .version = 1,
     .name = SOMA_STR("probe.echo"),
     .doc = SOMA_STR("Gives back what it got."),
     .inputs = any_port,
     .input_count = 1,
     .input_stride = sizeof(soma_port),
     .outputs = any_port,
     .output_count = 1,
     .output_stride = sizeof(soma_port),
     .flags = SOMA_NODE_REENTRANT,
     .example_json = SOMA_STR("[1, 2]"),
     .create = create_echo,
     .destroy = destroy,
     .forward = echo},
    {.struct_size = sizeof(soma_node_type),
     .version = 3,
     .name = SOMA_STR("probe.wait"),
     .doc = SOMA_STR("Takes its time.\nThen it gives back what it got."),
     .config = wait_config,
     .config_count = 3,
     .config_stride = sizeof(soma_config_field),
     .inputs = any_port,
     .input_count = 1,
     .input_stride = sizeof(soma_port),
     .flags = SOMA_NODE_REENTRANT,
     .create = create_wait,
     .destroy = destroy,
     .forward = wait},
    {.struct_size = sizeof(soma_node_type),
     .version = 1,
     .name = SOMA_STR("probe.fail"),
     .doc = SOMA_STR("Fails."),
     .config = fail_config,
     .config_count = 1,
     .config_stride = sizeof(soma_config_field),
     .flags = SOMA_NODE_REENTRANT,
     .create = create_fail,
     .destroy = destroy,
     .forward = fail},
};

static soma_status* SOMA_CALL register_nodes(const soma_api* host_api, soma_host* host) {
    api = host_api;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        soma_status* status = api->register_node(host, &types[i]);
        if (status != NULL) return status;
    }
    return NULL;
}

static const soma_plugin_info info = {.struct_size = sizeof(soma_plugin_info),
                                      .name = SOMA_STR("probe"),
                                      .version = SOMA_STR("1.2.3"),
                                      .doc = SOMA_STR("Nodes for the tests of the program."),
                                      .author = SOMA_STR("the project"),
                                      .license = SOMA_STR("Apache-2.0")};

SOMA_EXPORT const soma_entry soma_plugin_entry = {.magic = SOMA_PLUGIN_MAGIC,
                                                  .struct_size = sizeof(soma_entry),
                                                  .abi_major = SOMA_ABI_MAJOR,
                                                  .built_minor = SOMA_ABI_MINOR,
                                                  .info = &info,
                                                  .register_nodes = register_nodes};

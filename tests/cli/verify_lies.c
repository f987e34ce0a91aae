/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins that do not keep what they promise: the variable SOMA_LIE says in which way this one does not. It gives one node
 * type, `lie.WAY`, which multiplies a tensor by two and is otherwise as it should be.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "soma/abi.h"

static const soma_api* api;
static const char* way = "";

static int lies(const char* how) { return strcmp(way, how) == 0; }

static soma_string text(const char* chars) {
    const soma_string string = {chars, strlen(chars)};
    return string;
}

typedef struct {
    soma_host* host;
    soma_value* weight; /* a parameter, for some */
    soma_value* kept;   /* what is kept, and ought not to be */
    atomic_int inside;
    int calls;
} node;

static int has_weight(void) { return lies("weight") || lies("leaves_parameter") || lies("replaces_parameter"); }

static void crash(void) {
    (void)signal(SIGSEGV, SIG_DFL); /* whoever else would look at it */
    (void)raise(SIGSEGV);
}

/* An operator with one result. */
static soma_status* call(soma_host* host, const char* name, const char* overload, soma_value** args, uint32_t count,
                         soma_value** out) {
    const soma_operator* op = NULL;
    soma_status* status = api->op_find(host, text(name), text(overload), &op);
    if (status != NULL) return status;
    soma_call made = {0};
    made.struct_size = sizeof made;
    made.args = args;
    made.arg_count = count;
    made.results = out;
    made.result_capacity = 1;
    return api->op_call(host, op, &made);
}

static soma_status* times(soma_host* host, soma_value* x, double by, soma_value** out) {
    soma_value* factor = NULL;
    soma_status* status = api->make_float(host, by, &factor);
    if (status != NULL) return status;
    soma_value* args[2] = {x, factor};
    status = call(host, "aten::mul", "Scalar", args, 2, out);
    api->value_release(host, factor);
    return status;
}

static void SOMA_CALL destroy(void* self) {
    node* made = self;
    api->value_release(made->host, made->weight);
    api->value_release(made->host, made->kept);
    free(made);
}

static soma_status* make_weight(node* made) {
    soma_value* one = NULL;
    soma_value* size = NULL;
    soma_value* two = NULL;
    soma_value* yes = NULL;
    soma_value* plain = NULL;
    soma_status* status = api->make_int(made->host, 1, &one);
    if (status == NULL) status = api->make_list(made->host, &one, 1, &size);
    if (status == NULL) status = api->make_float(made->host, 2.0, &two);
    if (status == NULL) status = api->make_bool(made->host, 1, &yes);
    soma_value* full[2] = {size, two};
    if (status == NULL) status = call(made->host, "aten::full", "", full, 2, &plain);
    soma_value* grad[2] = {plain, yes};
    if (status == NULL) status = call(made->host, "aten::requires_grad_", "", grad, 2, &made->weight);
    soma_value* const all[] = {one, size, two, yes, plain};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) api->value_release(made->host, all[i]);
    return status;
}

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    if (lies("crash_in_create")) crash();
    if (lies("refuses_its_default")) {
        return api->status_create(host, SOMA_INVALID_ARGUMENT, text("a name must have two letters"), NULL);
    }
    soma_value* name = NULL;
    soma_string chars = {NULL, 0};
    soma_status* status = api->get_entry(host, info->config, text("name"), &name);
    if (status == NULL) status = api->get_string(host, name, &chars);
    if (status != NULL) return status;
    if (lies("refuses_a_choice") && chars.size == 3) {
        return api->status_create(host, SOMA_INVALID_ARGUMENT, text("not that one"), NULL);
    }
    if (lies("crash_on_empty_name") && chars.size == 0) crash();
    node* made = calloc(1, sizeof *made);
    if (made == NULL) return api->status_create(host, SOMA_OUT_OF_MEMORY, text("no memory"), NULL);
    made->host = host;
    if (has_weight()) status = make_weight(made);
    if (status != NULL) {
        destroy(made);
        return status;
    }
    *self = made;
    return NULL;
}

static void nap(long milliseconds) {
    const struct timespec time = {0, milliseconds * 1000000};
    (void)nanosleep(&time, NULL);
}

/* What it multiplies by. */
static double factor(node* made, const soma_ctx* ctx) {
    if (lies("counts")) return ++made->calls;
    if (lies("seeded")) return (double)(ctx->seed % 1000);
    if (!lies("races")) return 2;
    /* Waits for somebody else to come in, so that who can, does. */
    double by = 2;
    (void)atomic_fetch_add(&made->inside, 1);
    for (int i = 0; i < 10 && by == 2; ++i) {
        if (atomic_load(&made->inside) > 1) by = 3;
        nap(1);
    }
    (void)atomic_fetch_sub(&made->inside, 1);
    return by;
}

static soma_status* misbehave(node* made, const soma_ctx* ctx, soma_value* x) {
    const char* device = ctx->device == NULL ? "" : ctx->device;
    if (lies("crash_in_forward") || (lies("crash_on_cuda_1") && strcmp(device, "cuda:1") == 0)) crash();
    if (lies("abort_in_forward")) abort();
    if (lies("exit_in_forward")) exit(3);
    if (lies("leave_in_forward")) _exit(0);
    while (lies("hang_in_forward")) nap(100);
    if (lies("leaks")) {
        soma_value* lost = NULL;
        return api->make_string(made->host, text("lost"), &lost);
    }
    if (lies("prints")) (void)printf("printed by the plugin\n");
    if (lies("leaks_input")) (void)api->value_retain(made->host, x);
    if (lies("leaks_status")) (void)api->status_create(made->host, SOMA_UNKNOWN, text("lost"), NULL);
    if (lies("writes_input")) {
        soma_value* three = NULL;
        soma_value* same = NULL;
        soma_status* status = api->make_float(made->host, 3, &three);
        soma_value* args[2] = {x, three};
        if (status == NULL) status = call(made->host, "aten::mul_", "Scalar", args, 2, &same);
        api->value_release(made->host, same);
        api->value_release(made->host, three);
        return status;
    }
    return NULL;
}

static soma_status* by_weight(node* made, const soma_ctx* ctx, soma_value* x, soma_value** out) {
    soma_value* weight = api->value_retain(made->host, made->weight);
    soma_status* status = NULL;
    if (ctx->device != NULL && ctx->place.kind != SOMA_DEVICE_META) {
        if (lies("leaves_parameter")) {
            api->value_release(made->host, weight);
            status = api->value_to(made->host, made->weight, text(ctx->device), &weight);
        } else if (lies("replaces_parameter")) {
            api->value_release(made->host, weight);
            status = api->value_to(made->host, made->weight, text(ctx->device), &weight);
            if (status == NULL) {
                api->value_release(made->host, made->weight);
                made->weight = api->value_retain(made->host, weight);
            }
        } else {
            status = api->state_to(made->host, weight, text(ctx->device));
        }
    }
    soma_value* args[2] = {x, weight};
    if (status == NULL) status = call(made->host, "aten::mul", "Tensor", args, 2, out);
    api->value_release(made->host, weight);
    return status;
}

static int has_backward(void) { return lies("right_backward") || lies("wrong_backward") || lies("leaks_in_backward"); }

static int detaches(void) { return has_backward() || lies("no_gradient"); }

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    node* made = self;
    soma_value* x = NULL;
    soma_status* status = NULL;
    if (ctx->device == NULL || lies("ignores_device")) {
        x = api->value_retain(made->host, input);
    } else {
        status = api->value_to(made->host, input, text(ctx->device), &x);
    }
    if (status == NULL && detaches()) {
        soma_value* attached = x;
        x = NULL;
        status = call(made->host, "aten::detach", "", &attached, 1, &x);
        api->value_release(made->host, attached);
    }
    if (status == NULL && lies("works_elsewhere") && ctx->place.kind == SOMA_DEVICE_CUDA) {
        soma_value* there = NULL;
        status = api->value_to(made->host, x, text(ctx->place.index == 0 ? "cuda:1" : "cuda:0"), &there);
        api->value_release(made->host, there);
    }
    if (status == NULL) status = misbehave(made, ctx, x);
    if (status == NULL) {
        status = has_weight() ? by_weight(made, ctx, x, &outcome->value)
                              : times(made->host, x, factor(made, ctx), &outcome->value);
    }
    if (status == NULL && lies("leaves_memory") && ctx->place.kind == SOMA_DEVICE_CUDA && made->kept == NULL) {
        made->kept = api->value_retain(made->host, x);
    }
    api->value_release(made->host, x);
    return status;
}

static uint32_t SOMA_CALL state_count(void* self) { return ((node*)self)->weight == NULL ? 0 : 1; }

static soma_status* SOMA_CALL state_at(void* self, uint32_t index, soma_state* out) {
    (void)index;
    out->role = SOMA_STATE_PARAMETER;
    out->persistent = 1;
    out->name = text("weight");
    out->value = ((node*)self)->weight;
    return NULL;
}

static soma_status* SOMA_CALL state_set(void* self, soma_string name, soma_value* value) {
    (void)name;
    node* made = self;
    api->value_release(made->host, made->weight);
    made->weight = api->value_retain(made->host, value);
    return NULL;
}

static soma_status* SOMA_CALL backward(soma_host* host, soma_value* saved, soma_value* grads, soma_value** out) {
    (void)saved;
    soma_value* grad = NULL;
    soma_value* mine = NULL;
    soma_status* status = api->get_item(host, grads, 0, &grad);
    if (status == NULL) status = times(host, grad, lies("wrong_backward") ? 3 : 2, &mine);
    if (status == NULL) status = api->make_list(host, &mine, 1, out);
    if (!lies("leaks_in_backward")) api->value_release(host, mine);
    return status;
}

static soma_config_field fields[] = {{.struct_size = sizeof(soma_config_field),
                                      .kind = SOMA_KIND_STRING,
                                      .name = SOMA_STR("name"),
                                      .doc = SOMA_STR("of nothing in particular"),
                                      .default_json = SOMA_STR("\"x\"")}};

static const soma_port input_port = {.struct_size = sizeof(soma_port),
                                     .kind = SOMA_KIND_TENSOR,
                                     .name = SOMA_STR("x"),
                                     .doc = SOMA_STR("any tensor of floats")};

static soma_node_type type = {.struct_size = sizeof(soma_node_type),
                              .version = 1,
                              .doc = SOMA_STR("Multiplies its input by two."),
                              .config = fields,
                              .config_count = 1,
                              .config_stride = sizeof(soma_config_field),
                              .inputs = &input_port,
                              .input_count = 1,
                              .input_stride = sizeof(soma_port),
                              .flags = SOMA_NODE_REENTRANT | SOMA_NODE_DIFFERENTIABLE,
                              .example_json = SOMA_STR("{\"tensor\": [1.0, -2.0]}"),
                              .create = create,
                              .destroy = destroy,
                              .forward = forward,
                              .state_count = state_count,
                              .state_at = state_at,
                              .state_set = state_set};

static soma_status* SOMA_CALL register_nodes(const soma_api* table, soma_host* host) {
    static char name[64] = "lie.";
    api = table;
    const char* asked = getenv("SOMA_LIE");
    if (asked != NULL) way = asked;
    if (lies("crash_in_register")) crash();
    if (strlen(way) == 0 || strlen(way) > 48) {
        return api->status_create(host, SOMA_INVALID_ARGUMENT, text("SOMA_LIE says nothing"), NULL);
    }
    strcpy(name + 4, way);
    type.name = text(name);
    if (has_backward()) type.backward = backward;
    if (has_weight()) type.flags = SOMA_NODE_DIFFERENTIABLE;
    if (lies("undocumented")) type.doc = text("");
    if (lies("wrong_example")) type.example_json = text("\"a text\"");
    if (lies("no_example")) type.example_json = text("");
    if (lies("unknown_flag")) type.flags |= (uint64_t)1 << 40;
    if (lies("refuses_a_choice")) fields[0].choices_json = text("[\"x\", \"two\", \"three\"]");
    if (lies("unsound_default")) fields[0].choices_json = text("[\"y\", \"z\"]");
    return api->register_node(host, &type);
}

static void SOMA_CALL shutdown_plugin(void) {
    if (lies("crash_in_shutdown")) crash();
}

static const soma_plugin_info info = {.struct_size = sizeof(soma_plugin_info),
                                      .name = SOMA_STR("lies"),
                                      .version = SOMA_STR("1.0.0"),
                                      .doc = SOMA_STR("Nodes that do not keep what they promise.")};

const soma_entry soma_plugin_entry = {.magic = SOMA_PLUGIN_MAGIC,
                                      .struct_size = sizeof(soma_entry),
                                      .abi_major = SOMA_ABI_MAJOR,
                                      .built_minor = SOMA_ABI_MINOR,
                                      .info = &info,
                                      .register_nodes = register_nodes,
                                      .shutdown = shutdown_plugin};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin in plain C that computes on any device and lets gradients through, without a header of libtorch: `golden.linear`
 * is y = x wT + b, its weight and bias on the device that it is told. The binary beside it was built from this text, so
 * neither is ever edited.
 */
#include <stdlib.h>
#include <string.h>

#include "soma/abi.h"

static const soma_api* api;

typedef struct linear {
    soma_host* host;
    const soma_operator* op;
    soma_value* weight;
    soma_value* bias;
    char device[32]; /* where the state is; empty until it was moved */
} linear;

static soma_string text(const char* chars) {
    soma_string string;
    string.data = chars;
    string.size = strlen(chars);
    return string;
}

/* Calls an operator that has one result; `named` is one argument by name, or NULL. */
static soma_status* call(soma_host* host, const soma_operator* op, soma_value* const* args, uint32_t count,
                         const char* name, soma_value* named, soma_value** result) {
    soma_call c;
    soma_string key;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    c.args = args;
    c.arg_count = count;
    c.results = result;
    c.result_capacity = 1;
    if (name != NULL) {
        key = text(name);
        c.names = &key;
        c.named = &named;
        c.named_count = 1;
    }
    return api->op_call(host, op, &c);
}

/* A parameter of `rows` by `columns` numbers (a vector when `columns` is 0), each `first` + `step` times its index. */
static soma_status* make_parameter(soma_host* host, int64_t rows, int64_t columns, double first, double step,
                                   soma_value** out) {
    const soma_operator *arange, *multiply, *add, *reshape, *require;
    soma_value* args[3] = {NULL};
    soma_value* numbers = NULL;
    soma_value* scaled = NULL;
    soma_value* shifted = NULL;
    soma_value* shaped = NULL;
    soma_value* sizes[2] = {NULL};
    soma_value* kind = NULL;
    const int64_t count = columns == 0 ? rows : rows * columns;
    soma_status* status = api->op_find(host, text("aten::arange"), text(""), &arange);
    if (status == NULL) status = api->op_find(host, text("aten::mul"), text("Scalar"), &multiply);
    if (status == NULL) status = api->op_find(host, text("aten::add"), text("Scalar"), &add);
    if (status == NULL) status = api->op_find(host, text("aten::reshape"), text(""), &reshape);
    if (status == NULL) status = api->op_find(host, text("aten::requires_grad_"), text(""), &require);

    if (status == NULL) status = api->make_int(host, count, &args[0]);
    if (status == NULL) status = api->make_string(host, text("float32"), &kind);
    if (status == NULL) status = call(host, arange, args, 1, "dtype", kind, &numbers);
    api->value_release(host, args[0]);
    args[0] = numbers;
    if (status == NULL) status = api->make_float(host, step, &args[1]);
    if (status == NULL) status = call(host, multiply, args, 2, NULL, NULL, &scaled);
    api->value_release(host, args[1]);
    args[1] = NULL;
    args[0] = scaled;
    if (status == NULL) status = api->make_float(host, first, &args[1]);
    if (status == NULL) status = call(host, add, args, 2, NULL, NULL, &shifted);
    api->value_release(host, args[1]);
    args[1] = NULL;
    args[0] = shifted;
    if (status == NULL) status = api->make_int(host, rows, &sizes[0]);
    if (status == NULL) status = api->make_int(host, columns, &sizes[1]);
    if (status == NULL) status = api->make_list(host, sizes, columns == 0 ? 1 : 2, &args[1]);
    if (status == NULL) status = call(host, reshape, args, 2, NULL, NULL, &shaped);
    api->value_release(host, args[1]);
    args[1] = NULL;
    args[0] = shaped;
    if (status == NULL) status = api->make_bool(host, 1, &args[1]);
    if (status == NULL) status = call(host, require, args, 2, NULL, NULL, out);
    api->value_release(host, args[1]);
    api->value_release(host, numbers);
    api->value_release(host, scaled);
    api->value_release(host, shifted);
    api->value_release(host, shaped);
    api->value_release(host, sizes[0]);
    api->value_release(host, sizes[1]);
    api->value_release(host, kind);
    return status;
}

static void SOMA_CALL destroy(void* self) {
    linear* node = self;
    api->value_release(node->host, node->weight);
    api->value_release(node->host, node->bias);
    free(node);
}

static soma_status* get_size(soma_host* host, soma_value* config, const char* name, int64_t* out) {
    soma_value* value = NULL;
    soma_status* status = api->get_entry(host, config, text(name), &value);
    return status != NULL ? status : api->get_int(host, value, out);
}

static soma_status* SOMA_CALL moved(void* self, const char* device) {
    linear* node = self;
    soma_status* status;
    if (device == NULL || strcmp(node->device, device) == 0) return NULL;
    status = api->state_to(node->host, node->weight, text(device));
    if (status == NULL) status = api->state_to(node->host, node->bias, text(device));
    if (status == NULL) strncpy(node->device, device, sizeof node->device - 1);
    return status;
}

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    int64_t in = 0;
    int64_t out = 0;
    soma_status* status;
    linear* node = calloc(1, sizeof *node);
    if (node == NULL) return api->status_create(host, SOMA_OUT_OF_MEMORY, text("no memory for a node"), NULL);
    node->host = host;
    status = api->op_find(host, text("aten::linear"), text(""), &node->op);
    if (status == NULL) status = get_size(host, info->config, "in", &in);
    if (status == NULL) status = get_size(host, info->config, "out", &out);
    if (status == NULL) status = make_parameter(host, out, in, 0.5, 0.25, &node->weight);
    if (status == NULL) status = make_parameter(host, out, 0, 1.0, 1.0, &node->bias);
    if (status != NULL) {
        destroy(node);
        return status;
    }
    *self = node;
    return NULL;
}

/* Where to run: as told, else where the input is. What is no tensor is nowhere, and the operator will say so. */
static soma_status* find_device(linear* node, const soma_ctx* ctx, soma_value* input, const char** device) {
    soma_tensor_info info;
    soma_status* status;
    *device = ctx->device;
    if (ctx->device != NULL || api->value_kind(node->host, input) != SOMA_KIND_TENSOR) return NULL;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    status = api->tensor_info(node->host, input, &info);
    if (status == NULL) *device = info.device.data;
    return status;
}

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    linear* node = self;
    const char* device = NULL;
    soma_value* args[3];
    soma_value* there = NULL;
    soma_status* status = find_device(node, ctx, input, &device);
    if (status == NULL) status = moved(node, device);
    if (status != NULL) return status;
    if (device != NULL) {
        status = api->value_to(node->host, input, text(device), &there);
        if (status != NULL) return status;
    } else {
        there = api->value_retain(node->host, input);
    }
    args[0] = there;
    args[1] = node->weight;
    args[2] = node->bias;
    status = call(node->host, node->op, args, 3, NULL, NULL, &outcome->value);
    api->value_release(node->host, there);
    return status;
}

static uint32_t SOMA_CALL state_count(void* self) {
    (void)self;
    return 2;
}

static soma_status* SOMA_CALL state_at(void* self, uint32_t index, soma_state* out) {
    linear* node = self;
    out->role = SOMA_STATE_PARAMETER;
    out->persistent = 1;
    out->name = text(index == 0 ? "weight" : "bias");
    out->value = index == 0 ? node->weight : node->bias;
    return NULL;
}

static soma_status* SOMA_CALL state_set(void* self, soma_string name, soma_value* value) {
    linear* node = self;
    soma_value** slot = name.size == 6 && memcmp(name.data, "weight", 6) == 0 ? &node->weight : &node->bias;
    api->value_release(node->host, *slot);
    *slot = api->value_retain(node->host, value);
    node->device[0] = '\0';
    return NULL;
}

static const soma_config_field config[] = {
    {.struct_size = sizeof(soma_config_field),
     .kind = SOMA_KIND_INT,
     .name = SOMA_STR("in"),
     .doc = SOMA_STR("size of the input's last dimension"),
     .default_json = SOMA_STR("3"),
     .minimum_json = SOMA_STR("1")},
    {.struct_size = sizeof(soma_config_field),
     .kind = SOMA_KIND_INT,
     .name = SOMA_STR("out"),
     .doc = SOMA_STR("size of the result's last dimension"),
     .default_json = SOMA_STR("2"),
     .minimum_json = SOMA_STR("1")},
};

static const soma_port input_port = {.struct_size = sizeof(soma_port),
                                     .kind = SOMA_KIND_TENSOR,
                                     .name = SOMA_STR("x"),
                                     .doc = SOMA_STR("a tensor [..., in]")};

static const soma_port output_port = {.struct_size = sizeof(soma_port),
                                      .kind = SOMA_KIND_TENSOR,
                                      .name = SOMA_STR("y"),
                                      .doc = SOMA_STR("a tensor [..., out]")};

static const soma_node_type type = {
    .struct_size = sizeof(soma_node_type),
    .version = 1,
    .name = SOMA_STR("golden.linear"),
    .doc = SOMA_STR("y = x wT + b"),
    .config = config,
    .config_count = 2,
    .config_stride = sizeof(soma_config_field),
    .inputs = &input_port,
    .input_count = 1,
    .input_stride = sizeof(soma_port),
    .outputs = &output_port,
    .output_count = 1,
    .output_stride = sizeof(soma_port),
    .flags = SOMA_NODE_DIFFERENTIABLE,
    .example_json = SOMA_STR("{\"tensor\": [[1.0, 2.0, 4.0]]}"),
    .create = create,
    .destroy = destroy,
    .forward = forward,
    .state_count = state_count,
    .state_at = state_at,
    .state_set = state_set,
    .moved = moved,
};

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    api = given;
    return api->register_node(host, &type);
}

static const soma_plugin_info info = {
    .struct_size = sizeof(soma_plugin_info),
    .name = SOMA_STR("golden-linear"),
    .version = SOMA_STR("1.0"),
    .doc = SOMA_STR("A linear layer in plain C"),
    .license = SOMA_STR("Apache-2.0"),
};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
};

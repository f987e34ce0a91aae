/* The plugin plugin_name: one node type, plugin_name.scale. */
#include <stdlib.h>
#include <string.h>

#include <soma/abi.h>

/* An instance of the node. */
typedef struct {
    soma_host* host;
    soma_value* by;
    const soma_operator* mul;
} scale;

/* The host's functions. */
static const soma_api* api;

static soma_string text(const char* chars) {
    const soma_string string = {chars, strlen(chars)};
    return string;
}

static void SOMA_CALL destroy(void* self) {
    scale* node = self;
    api->value_release(node->host, node->by);
    free(node);
}

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    scale* node = calloc(1, sizeof *node);
    if (node == NULL) return api->status_create(host, SOMA_OUT_OF_MEMORY, text("no memory for a node"), NULL);
    node->host = host;
    soma_value* by = NULL;
    soma_status* status = api->get_entry(host, info->config, text("by"), &by);
    if (status == NULL) status = api->op_find(host, text("aten::mul"), text("Scalar"), &node->mul);
    if (status != NULL) {
        destroy(node);
        return status;
    }
    node->by = api->value_retain(host, by);
    *self = node;
    return NULL;
}

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    const scale* node = self;

    /* Obeying a placement: the input goes to where the node must run; unplaced, the node runs where its input is. */
    soma_value* x = NULL;
    soma_status* status = NULL;
    if (ctx->device == NULL) {
        x = api->value_retain(node->host, input);
    } else {
        status = api->value_to(node->host, input, text(ctx->device), &x);
    }
    if (status != NULL) return status;

    /* What an operator makes is where its arguments are, so the result is where it must be. */
    soma_value* args[2] = {x, node->by};
    soma_call call = {0};
    call.struct_size = sizeof call;
    call.args = args;
    call.arg_count = 2;
    call.results = &outcome->value;
    call.result_capacity = 1;
    status = api->op_call(node->host, node->mul, &call);
    api->value_release(node->host, x);
    return status;
}

static const soma_config_field config[] = {{.struct_size = sizeof(soma_config_field),
                                            .kind = SOMA_KIND_FLOAT,
                                            .name = SOMA_STR("by"),
                                            .doc = SOMA_STR("what to multiply by"),
                                            .default_json = SOMA_STR("2.0")}};

static const soma_port input = {.struct_size = sizeof(soma_port),
                                .kind = SOMA_KIND_TENSOR,
                                .name = SOMA_STR("x"),
                                .doc = SOMA_STR("any tensor of floats")};

static const soma_port output = {.struct_size = sizeof(soma_port),
                                 .kind = SOMA_KIND_TENSOR,
                                 .name = SOMA_STR("y"),
                                 .doc = SOMA_STR("of the same shape, on the node's device")};

static const soma_node_type scale_type = {.struct_size = sizeof(soma_node_type),
                                          .version = 1,
                                          .name = SOMA_STR("plugin_name.scale"),
                                          .doc = SOMA_STR("Multiplies its input by a number."),
                                          .config = config,
                                          .config_count = 1,
                                          .config_stride = sizeof(soma_config_field),
                                          .inputs = &input,
                                          .input_count = 1,
                                          .input_stride = sizeof(soma_port),
                                          .outputs = &output,
                                          .output_count = 1,
                                          .output_stride = sizeof(soma_port),
                                          .flags = SOMA_NODE_REENTRANT | SOMA_NODE_DIFFERENTIABLE,
                                          .example_json = SOMA_STR("{\"tensor\": [1.0, -2.0]}"),
                                          .create = create,
                                          .destroy = destroy,
                                          .forward = forward};

static soma_status* SOMA_CALL register_nodes(const soma_api* table, soma_host* host) {
    api = table;
    return api->register_node(host, &scale_type);
}

static const soma_plugin_info info = {.struct_size = sizeof(soma_plugin_info),
                                      .name = SOMA_STR("plugin_name"),
                                      .version = SOMA_STR("0.1.0"),
                                      .doc = SOMA_STR("Nodes of plugin_name.")};

const soma_entry soma_plugin_entry = {.magic = SOMA_PLUGIN_MAGIC,
                                      .struct_size = sizeof(soma_entry),
                                      .abi_major = SOMA_ABI_MAJOR,
                                      .built_minor = SOMA_ABI_MINOR,
                                      .info = &info,
                                      .register_nodes = register_nodes};

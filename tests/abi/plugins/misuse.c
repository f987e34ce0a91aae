/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the interface wrongly, one way a name, and gives back what it was told. */
#include "plain.h"

static soma_host* the_host;

/* The status that `what` brings about; NULL when nothing was noticed. */
static soma_status* misuse(soma_host* host, soma_string what, const soma_ctx* ctx, soma_value* input) {
    static const soma_node_type late = {.struct_size = sizeof(soma_node_type)};
    static const soma_string keys[2] = {SOMA_STR("a"), SOMA_STR("a")};
    static const soma_string no_utf8 = SOMA_STR("ab\xff");
    static const soma_string no_data = {NULL, 3};
    uint64_t not_a_host[32] = {0};
    soma_value* values[2] = {NULL, NULL};
    soma_value* made = NULL;
    soma_string text;
    int64_t number = 0;
    uint64_t size = 0;
    const void* data = NULL;
    void* payload = NULL;
    soma_tensor_info tensor = {0};
    soma_opaque_type opaque = {0};
    soma_dl_managed* managed = NULL;
    const soma_operator* op = NULL;

    if (plain_is(what, "no host")) return api->make_int(NULL, 1, &made);
    if (plain_is(what, "wrong host")) return api->make_int((soma_host*)not_a_host, 1, &made);
    if (plain_is(what, "crooked host")) return api->make_int((soma_host*)((char*)host + 1), 1, &made);
    if (plain_is(what, "no out")) return api->make_int(host, 1, NULL);
    if (plain_is(what, "no value")) return api->get_int(host, NULL, &number);
    if (plain_is(what, "wrong kind")) return api->get_string(host, input, &text);
    if (plain_is(what, "size of an int")) return api->get_size(host, input, &size);
    if (plain_is(what, "bytes of an int")) return api->get_bytes(host, input, &data, &size);
    if (plain_is(what, "no size")) return api->get_bytes(host, input, &data, NULL);
    if (plain_is(what, "opaque of an int")) return api->get_opaque(host, input, plain_text("a/1"), &payload);
    if (plain_is(what, "item out of range")) return api->get_item(host, input, 7, &made);
    if (plain_is(what, "key out of range")) return api->get_key(host, input, 7, &text);
    if (plain_is(what, "no such key")) return api->get_entry(host, input, plain_text("lenght"), &made);
    if (plain_is(what, "not UTF-8")) return api->make_string(host, no_utf8, &made);
    if (plain_is(what, "no data")) return api->make_string(host, no_data, &made);
    if (plain_is(what, "bytes without data")) return api->make_bytes(host, NULL, 3, &made);
    if (plain_is(what, "key twice")) return api->make_dict(host, keys, values, 2, &made);
    if (plain_is(what, "key not UTF-8")) return api->make_dict(host, &no_utf8, values, 1, &made);
    if (plain_is(what, "no items")) return api->make_list(host, NULL, 2, &made);
    if (plain_is(what, "late registration")) return api->register_node(host, &late);
    if (plain_is(what, "opaque too small")) return api->make_opaque(host, &opaque, NULL, &made);
    if (plain_is(what, "opaque without id")) {
        opaque.struct_size = sizeof opaque;
        return api->make_opaque(host, &opaque, NULL, &made);
    }
    if (plain_is(what, "opaque without destroy")) {
        opaque.struct_size = sizeof opaque;
        opaque.type_id = plain_text("test.leak/1");
        return api->make_opaque(host, &opaque, NULL, &made);
    }
    if (plain_is(what, "info of an int")) return api->tensor_info(host, input, &tensor);
    if (plain_is(what, "state that is an int")) return api->state_to(host, input, plain_text("cpu"));
    if (plain_is(what, "memory of an int")) return api->tensor_to_dlpack(host, input, 0, &managed);
    if (plain_is(what, "no memory")) return api->tensor_from_dlpack(host, NULL, &made);
    if (plain_is(what, "call nothing")) return api->op_call(host, NULL, NULL);
    if (plain_is(what, "find nowhere")) return api->op_find(host, plain_text("aten::add"), plain_text("Tensor"), NULL);
    if (plain_is(what, "find no name")) return api->op_find(host, no_data, plain_text(""), &op);
    if (plain_is(what, "to nowhere")) return api->value_to(host, input, plain_text("cude:0"), &made);
    if (plain_is(what, "to a kind")) return api->value_to(host, input, plain_text("cuda"), &made);
    if (plain_is(what, "no context")) return api->make_generator(host, NULL, &made);

    /* Those that cannot fail are only told of in the log. */
    if (plain_is(what, "released value")) {
        api->status_release(host, api->make_int(host, 1, &made));
        api->value_release(host, made);
        api->value_release(host, made);
    }
    if (plain_is(what, "released status")) {
        soma_status* status = plain_fail(host, SOMA_INTERNAL, "short-lived");
        api->status_release(host, status);
        api->status_release(host, status);
    }
    if (plain_is(what, "released cause")) {
        soma_status* status = plain_fail(host, SOMA_INTERNAL, "short-lived");
        api->status_release(host, status);
        return api->status_create(host, SOMA_INTERNAL, plain_text("it has a cause"), status);
    }
    if (plain_is(what, "release without host")) api->value_release(NULL, input);
    if (plain_is(what, "log without host")) api->log(NULL, SOMA_LOG_ERROR, plain_text(""), plain_text("hello"));
    if (plain_is(what, "log not UTF-8")) api->log(host, SOMA_LOG_ERROR, plain_text("n"), no_utf8);
    if (plain_is(what, "log")) api->log(host, SOMA_LOG_WARNING, plain_text("n1"), plain_text("all is well"));
    if (plain_is(what, "extension without id") && api->get_extension(host, NULL) != NULL) abort();
    if (plain_is(what, "unknown extension") && api->get_extension(host, "acme.none/1") != NULL) abort();
    if (plain_is(what, "cancelled without context") && api->cancelled(host, NULL) != 0) abort();
    if (plain_is(what, "copied context")) {
        struct {
            soma_ctx ctx;
            uint64_t beyond[8];
        } copy = {*ctx, {0}};
        if (api->cancelled(host, &copy.ctx) != 0) abort();
    }
    if (plain_is(what, "cancelled"))
        return api->cancelled(host, ctx) ? plain_fail(host, SOMA_CANCELLED, "so it is") : NULL;

    /* Statuses as they should be. */
    if (plain_is(what, "causes")) {
        soma_status* inner = plain_fail(host, SOMA_UNAVAILABLE, "the disk is gone");
        soma_status* outer = api->status_create(host, SOMA_INTERNAL, plain_text("no weights"), inner);
        if (api->status_code(host, api->status_cause(host, outer)) != SOMA_UNAVAILABLE) abort();
        if (!plain_is(api->status_origin(host, outer), "misuse")) abort();
        return outer;
    }
    if (plain_is(what, "unknown code")) return plain_fail(host, 4711, "a code of tomorrow");
    if (plain_is(what, "status not UTF-8")) return api->status_create(host, SOMA_INTERNAL, no_utf8, NULL);
    if (plain_is(what, "nothing wrong")) {
        if (api->status_code(host, NULL) != SOMA_OK || api->status_message(host, NULL).size != 0) abort();
        api->status_release(host, NULL);
        api->value_release(host, NULL);
        if (api->value_retain(host, NULL) != NULL || api->value_kind(host, NULL) != SOMA_KIND_NONE) abort();
    }
    return NULL;
}

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    plain_node* node = self;
    soma_status* status = misuse(node->host, plain_string(node, "what"), ctx, input);
    return status != NULL ? status : api->make_none(node->host, &outcome->value);
}

/* ---- instances that are not as they should be --------------------------------------------------------------------- */

static soma_status* SOMA_CALL create_nothing(soma_host* host, const soma_create_info* info, void** self) {
    (void)host, (void)info, (void)self;
    return NULL;
}

static soma_status* SOMA_CALL create_failing(soma_host* host, const soma_create_info* info, void** self) {
    (void)info, (void)self;
    return api->status_create(host, SOMA_UNAVAILABLE, plain_text("there are no weights"),
                              plain_fail(host, SOMA_NOT_FOUND, "no file weights.bin"));
}

/* Gives back everything that it was told at its creation. */
static soma_status* SOMA_CALL create_telling(soma_host* host, const soma_create_info* given, void** self) {
    enum { count = 7 };
    static const soma_string keys[count] = {SOMA_STR("id"),   SOMA_STR("device"), SOMA_STR("kind"), SOMA_STR("index"),
                                            SOMA_STR("seed"), SOMA_STR("config"), SOMA_STR("data")};
    soma_value* values[count] = {NULL};
    soma_value* told = NULL;
    plain_node* node = calloc(1, sizeof *node);
    int i;
    api->status_release(host, api->make_string(host, given->node_id, &values[0]));
    if (given->device != NULL) api->status_release(host, api->make_string(host, plain_text(given->device), &values[1]));
    api->status_release(host, api->make_int(host, given->place.kind, &values[2]));
    api->status_release(host, api->make_int(host, given->place.index, &values[3]));
    api->status_release(host, api->make_int(host, (int64_t)given->seed, &values[4]));
    values[5] = api->value_retain(host, given->config);
    api->status_release(host, api->make_string(host, plain_text(given->type_data), &values[6]));
    api->status_release(host, api->make_dict(host, keys, values, count, &told));
    for (i = 0; i < count; ++i) api->value_release(host, values[i]);
    node->host = host;
    node->config = told;
    *self = node;
    return NULL;
}

static soma_status* SOMA_CALL tell(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    plain_node* node = self;
    (void)ctx, (void)input;
    outcome->value = api->value_retain(node->host, node->config);
    return NULL;
}

/* State of which every part may be wrong, as the configuration says. */
static uint32_t SOMA_CALL state_count(void* self) {
    return plain_is(plain_string(self, "what"), "state without end") ? UINT32_MAX : 1;
}

static soma_status* SOMA_CALL state_at(void* self, uint32_t index, soma_state* out) {
    plain_node* node = self;
    const soma_string what = plain_string(node, "what");
    (void)index;
    if (plain_is(what, "state that fails")) return plain_fail(node->host, SOMA_INTERNAL, "it was lost");
    out->role = SOMA_STATE_PARAMETER;
    out->name = plain_text(plain_is(what, "state without a name") ? "" : "weight");
    out->value = plain_is(what, "state without a value") ? NULL : node->config;
    return NULL;
}

static soma_status* SOMA_CALL moved(void* self, const char* device) {
    plain_node* node = self;
    if (!plain_is(plain_string(node, "what"), "stays")) return NULL;
    return plain_fail(node->host, SOMA_FAILED_PRECONDITION, device == NULL ? "it has nowhere to go" : device);
}

static const soma_config_field config[] = {
    {sizeof(soma_config_field),
     SOMA_KIND_STRING,
     0,
     0,
     SOMA_STR("what"),
     SOMA_STR("what to do wrong"),
     SOMA_STR("\"\""),
     {NULL, 0},
     {NULL, 0},
     {NULL, 0}},
};

#define COMMON(NAME)                                                                                                   \
    .struct_size = sizeof(soma_node_type), .version = 1, .name = SOMA_STR(NAME), .config = config, .config_count = 1,  \
    .config_stride = sizeof(soma_config_field), .destroy = plain_destroy

static const soma_node_type types[] = {
    {COMMON("misuse.call"), .create = plain_create, .forward = forward},
    {COMMON("misuse.nothing"), .create = create_nothing, .forward = forward},
    {COMMON("misuse.failing"), .create = create_failing, .forward = forward},
    {COMMON("misuse.telling"), .create = create_telling, .forward = tell, .type_data = "type data"},
    {COMMON("misuse.state"), .create = plain_create, .forward = forward, .state_count = state_count,
     .state_at = state_at, .moved = moved},
};

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    size_t i;
    api = given;
    the_host = host;
    for (i = 0; i < sizeof types / sizeof types[0]; ++i) {
        soma_status* status = api->register_node(host, &types[i]);
        if (status != NULL) return status;
    }
    return NULL;
}

static void SOMA_CALL shut_down(void) {
    /* The host is still there for a last word. */
    api->log(the_host, SOMA_LOG_INFO, plain_text(""), plain_text("shut down"));
}

static const soma_plugin_info info = {
    .struct_size = sizeof(soma_plugin_info), .name = SOMA_STR("misuse"), .version = SOMA_STR("1.0")};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
    .shutdown = shut_down,
};

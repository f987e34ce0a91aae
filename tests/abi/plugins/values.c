/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and reads values of every kind through the interface, as a plugin in C does. */
#include "plain.h"

/* ---- a value of every kind, made from nothing -------------------------------------------------------------------- */

static soma_status* SOMA_CALL kinds(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    enum { count = 12 };
    static const char* const names[count] = {"none",  "yes",         "int",        "float",      "text",  "empty text",
                                             "bytes", "empty bytes", "empty list", "empty dict", "items", "null items"};
    soma_host* host = ((plain_node*)self)->host;
    soma_value* made[count] = {NULL};
    soma_string keys[count];
    soma_status* status = NULL;
    int i;
    (void)ctx;
    (void)input;
    for (i = 0; i < count; ++i) keys[i] = plain_text(names[i]);
    if (status == NULL) status = api->make_none(host, &made[0]);
    if (status == NULL) status = api->make_bool(host, 7, &made[1]);
    if (status == NULL) status = api->make_int(host, INT64_MIN, &made[2]);
    if (status == NULL) status = api->make_float(host, 0.1, &made[3]);
    if (status == NULL) status = api->make_string(host, plain_text("z\xc3\xa9ro \xf0\x9f\x8c\x8d"), &made[4]);
    if (status == NULL) status = api->make_string(host, plain_text(""), &made[5]);
    if (status == NULL) status = api->make_bytes(host, "a\0b\0", 4, &made[6]);
    if (status == NULL) status = api->make_bytes(host, NULL, 0, &made[7]);
    if (status == NULL) status = api->make_list(host, NULL, 0, &made[8]);
    if (status == NULL) status = api->make_dict(host, NULL, NULL, 0, &made[9]);
    if (status == NULL) status = api->make_list(host, made, 4, &made[10]);
    if (status == NULL) {
        soma_value* const nothing[2] = {NULL, NULL};
        status = api->make_list(host, nothing, 2, &made[11]);
    }
    if (status == NULL) status = api->make_dict(host, keys, made, count, &outcome->value);
    for (i = 0; i < count; ++i) api->value_release(host, made[i]);
    return status;
}

/* ---- as deep as told --------------------------------------------------------------------------------------------- */

static soma_status* SOMA_CALL deep(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    plain_node* node = self;
    const int64_t depth = plain_int(node, "depth");
    const int dicts = plain_is(plain_string(node, "of"), "dict");
    const soma_string key = plain_text("in");
    soma_value* value = api->value_retain(node->host, input);
    int64_t i;
    (void)ctx;
    for (i = 0; i < depth; ++i) {
        soma_value* outer = NULL;
        soma_status* status =
            dicts ? api->make_dict(node->host, &key, &value, 1, &outer) : api->make_list(node->host, &value, 1, &outer);
        api->value_release(node->host, value);
        if (status != NULL) return status;
        value = outer;
    }
    outcome->value = value;
    return NULL;
}

/* ---- the input taken apart and put together again ---------------------------------------------------------------- */

static soma_status* copy(soma_host* host, const soma_value* value, soma_value** out);

static soma_status* copy_parts(soma_host* host, const soma_value* value, int dict, soma_value** out) {
    soma_value** parts = NULL;
    soma_string* keys = NULL;
    uint64_t count = 0;
    uint64_t i;
    soma_status* status = api->get_size(host, value, &count);
    if (status != NULL) return status;
    parts = calloc((size_t)count + 1, sizeof *parts);
    keys = calloc((size_t)count + 1, sizeof *keys);
    for (i = 0; i < count && status == NULL; ++i) {
        soma_value* part = NULL;
        status = api->get_item(host, value, i, &part);
        if (status == NULL && dict) status = api->get_key(host, value, i, &keys[i]);
        if (status == NULL && dict && keys[i].data[keys[i].size] != '\0') {
            status = plain_fail(host, SOMA_INTERNAL, "a key does not end in a NUL");
        }
        if (status == NULL) status = copy(host, part, &parts[i]);
    }
    if (status == NULL) {
        status = dict ? api->make_dict(host, keys, parts, count, out) : api->make_list(host, parts, count, out);
    }
    for (i = 0; i < count; ++i) api->value_release(host, parts[i]);
    free(parts);
    free(keys);
    return status;
}

static soma_status* copy(soma_host* host, const soma_value* value, soma_value** out) {
    soma_status* status = NULL;
    switch (api->value_kind(host, value)) {
    case SOMA_KIND_NONE: return api->make_none(host, out);
    case SOMA_KIND_BOOL: {
        uint32_t flag = 0;
        status = api->get_bool(host, value, &flag);
        return status != NULL ? status : api->make_bool(host, flag, out);
    }
    case SOMA_KIND_INT: {
        int64_t number = 0;
        status = api->get_int(host, value, &number);
        return status != NULL ? status : api->make_int(host, number, out);
    }
    case SOMA_KIND_FLOAT: {
        double number = 0;
        status = api->get_float(host, value, &number);
        return status != NULL ? status : api->make_float(host, number, out);
    }
    case SOMA_KIND_STRING: {
        soma_string text = {NULL, 0};
        status = api->get_string(host, value, &text);
        if (status == NULL && text.data[text.size] != '\0') {
            status = plain_fail(host, SOMA_INTERNAL, "a string does not end in a NUL");
        }
        return status != NULL ? status : api->make_string(host, text, out);
    }
    case SOMA_KIND_BYTES: {
        const void* data = NULL;
        uint64_t size = 0;
        status = api->get_bytes(host, value, &data, &size);
        return status != NULL ? status : api->make_bytes(host, data, size, out);
    }
    case SOMA_KIND_LIST: return copy_parts(host, value, 0, out);
    case SOMA_KIND_DICT: return copy_parts(host, value, 1, out);
    default: return plain_fail(host, SOMA_TYPE_MISMATCH, "there is no way to copy this");
    }
}

static soma_status* SOMA_CALL copied(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)ctx;
    return copy(((plain_node*)self)->host, input, &outcome->value);
}

/* ---- an opaque payload -------------------------------------------------------------------------------------------- */

typedef struct box {
    int64_t number;
    soma_value* keeps; /* one more value, released with the box */
    soma_host* host;
} box;

static int boxes;

static void SOMA_CALL box_destroy(void* payload) {
    box* closed = payload;
    api->value_release(closed->host, closed->keeps);
    free(closed);
    --boxes;
}

static soma_status* SOMA_CALL box_place(soma_host* host, void* payload, soma_place* out) {
    const box* asked = payload;
    if (asked->number < 0)
        return plain_fail(host, SOMA_INTERNAL, "a box with a negative number is nowhere to be found");
    out->kind = asked->number == 0 ? SOMA_DEVICE_NONE : SOMA_DEVICE_CUDA;
    out->index = asked->number == 0 ? 0 : (int32_t)asked->number - 1;
    return NULL;
}

static const soma_opaque_type box_type = {sizeof(soma_opaque_type), 0, SOMA_STR("test.box/1"), box_destroy, box_place};
/* As a plugin of an older minor would give it: what lies beyond its end is no pointer. */
static const soma_opaque_type silent_type = {offsetof(soma_opaque_type, place), 0, SOMA_STR("test.silent/1"),
                                             box_destroy, box_place};

static soma_status* SOMA_CALL make_box(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    plain_node* node = self;
    const int silent = plain_is(plain_string(node, "type"), "silent");
    box* made = calloc(1, sizeof *made);
    soma_status* status;
    (void)ctx;
    made->number = plain_int(node, "number");
    made->host = node->host;
    made->keeps = api->value_retain(node->host, input);
    ++boxes;
    status = api->make_opaque(node->host, silent ? &silent_type : &box_type, made, &outcome->value);
    if (status != NULL) box_destroy(made);
    return status;
}

static soma_status* SOMA_CALL open_box(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    soma_host* host = ((plain_node*)self)->host;
    void* payload = NULL;
    soma_status* status = api->get_opaque(host, input, plain_text("test.box/1"), &payload);
    (void)ctx;
    return status != NULL ? status : api->make_int(host, ((box*)payload)->number, &outcome->value);
}

static soma_status* SOMA_CALL count_boxes(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    (void)ctx;
    (void)input;
    return api->make_int(((plain_node*)self)->host, boxes, &outcome->value);
}

/* ---- the table of types ------------------------------------------------------------------------------------------- */

static const soma_config_field deep_config[] = {
    {sizeof(soma_config_field),
     SOMA_KIND_INT,
     SOMA_CONFIG_REQUIRED,
     0,
     SOMA_STR("depth"),
     SOMA_STR("levels"),
     {NULL, 0},
     {NULL, 0},
     SOMA_STR("0"),
     {NULL, 0}},
    {sizeof(soma_config_field),
     SOMA_KIND_STRING,
     0,
     0,
     SOMA_STR("of"),
     SOMA_STR("what each level is"),
     SOMA_STR("\"list\""),
     SOMA_STR("[\"list\", \"dict\"]"),
     {NULL, 0},
     {NULL, 0}},
};

static const soma_config_field box_config[] = {
    {sizeof(soma_config_field),
     SOMA_KIND_INT,
     0,
     0,
     SOMA_STR("number"),
     SOMA_STR("n on cuda:n-1, 0 nowhere"),
     SOMA_STR("0"),
     {NULL, 0},
     {NULL, 0},
     {NULL, 0}},
    {sizeof(soma_config_field),
     SOMA_KIND_STRING,
     0,
     0,
     SOMA_STR("type"),
     SOMA_STR("which"),
     SOMA_STR("\"box\""),
     {NULL, 0},
     {NULL, 0},
     {NULL, 0}},
};

#define TYPE(NAME, CONFIG, COUNT, FORWARD)                                                                             \
    {                                                                                                                  \
        .struct_size = sizeof(soma_node_type), .version = 1, .name = SOMA_STR(NAME), .config = (CONFIG),               \
        .config_count = (COUNT), .config_stride = sizeof(soma_config_field), .create = plain_create,                   \
        .destroy = plain_destroy, .forward = (FORWARD)                                                                 \
    }

static const soma_node_type types[] = {
    TYPE("values.kinds", NULL, 0, kinds),   TYPE("values.deep", deep_config, 2, deep),
    TYPE("values.copy", NULL, 0, copied),   TYPE("values.box", box_config, 2, make_box),
    TYPE("values.open", NULL, 0, open_box), TYPE("values.boxes", NULL, 0, count_boxes),
};

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    size_t i;
    api = given;
    for (i = 0; i < sizeof types / sizeof types[0]; ++i) {
        soma_status* status = api->register_node(host, &types[i]);
        if (status != NULL) return status;
    }
    return NULL;
}

static const soma_plugin_info info = {
    .struct_size = sizeof(soma_plugin_info), .name = SOMA_STR("values"), .version = SOMA_STR("1.0")};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
};

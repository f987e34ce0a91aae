/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of this plugin is of an array of its own, which no other allocator could free, and what it hands to the host
 * is wiped as soon as the host returns: memory freed on the wrong side, or kept without a copy, shows. */
#include "plain.h"

enum { blocks = 16, block_size = 256 };

static _Alignas(16) unsigned char pool[blocks][block_size];
static int in_use[blocks];

static void* take(void) {
    int i;
    for (i = 0; i < blocks; ++i) {
        if (in_use[i]) continue;
        in_use[i] = 1;
        memset(pool[i], 0, block_size);
        return pool[i];
    }
    return NULL;
}

static void give_back(void* block) {
    const ptrdiff_t at = (unsigned char(*)[block_size])block - pool;
    /* Not from here, or given back twice. */
    if (at < 0 || at >= blocks || block != pool[at] || !in_use[at]) abort();
    in_use[at] = 0;
}

static int64_t count(void) {
    int64_t sum = 0;
    int i;
    for (i = 0; i < blocks; ++i) sum += in_use[i];
    return sum;
}

typedef struct sides_node {
    soma_host* host;
    soma_value* config;
} sides_node;

static soma_status* SOMA_CALL create(soma_host* host, const soma_create_info* info, void** self) {
    sides_node* node = take();
    if (node == NULL) return plain_fail(host, SOMA_OUT_OF_MEMORY, "no memory for a node");
    node->host = host;
    node->config = api->value_retain(host, info->config);
    *self = node;
    return NULL;
}

static void SOMA_CALL destroy(void* self) {
    sides_node* node = self;
    api->value_release(node->host, node->config);
    give_back(node);
}

static const soma_opaque_type payload = {sizeof(soma_opaque_type), 0, SOMA_STR("sides.block/1"), give_back, NULL};

/* A text in memory that `wipe` wipes. */
static char buffers[8][32];

static soma_string passing(int at, const char* text) {
    soma_string string;
    string.size = strlen(text);
    string.data = memcpy(buffers[at], text, (size_t)string.size);
    return string;
}

static void wipe(void) { memset(buffers, '#', sizeof buffers); }

/* {"text": …, "bytes": …, "items": [text, block]}, each made of memory that is gone by the end. */
static soma_status* values(soma_host* host, soma_value** out) {
    soma_value* made[3] = {NULL};
    soma_value* items[2] = {NULL};
    soma_string keys[3];
    soma_string bytes;
    int i;
    void* block = take();
    soma_status* status = api->make_string(host, passing(0, "a text"), &made[0]);
    bytes = passing(1, "some bytes");
    if (status == NULL) status = api->make_bytes(host, bytes.data, bytes.size, &made[1]);
    wipe();
    items[0] = api->value_retain(host, made[0]);
    if (status == NULL) status = api->make_opaque(host, &payload, block, &items[1]);
    if (status == NULL) status = api->make_list(host, items, 2, &made[2]);
    for (i = 0; i < 2; ++i) {
        api->value_release(host, items[i]);
        items[i] = NULL;
    }
    keys[0] = passing(0, "text");
    keys[1] = passing(1, "bytes");
    keys[2] = passing(2, "items");
    if (status == NULL) status = api->make_dict(host, keys, made, 3, out);
    wipe();
    memset(keys, 0, sizeof keys);
    for (i = 0; i < 3; ++i) {
        api->value_release(host, made[i]);
        made[i] = NULL;
    }
    return status;
}

static soma_status* failure(soma_host* host) {
    soma_status* cause = api->status_create(host, SOMA_UNAVAILABLE, passing(0, "the disk is gone"), NULL);
    soma_status* status = api->status_create(host, SOMA_INTERNAL, passing(1, "no weights"), cause);
    api->log(host, SOMA_LOG_WARNING, passing(2, "n1"), passing(3, "it will fail"));
    wipe();
    return status;
}

/* Lent to a tensor; all of it in one block. */
typedef struct lent {
    soma_dl_managed managed;
    int64_t shape[1];
    double numbers[4];
} lent;

static void SOMA_CALL end_of_loan(soma_dl_managed* managed) { give_back(managed->manager_ctx); }

static soma_status* tensor(soma_host* host, soma_value** out) {
    lent* block = take();
    soma_status* status;
    int i;
    if (block == NULL) return plain_fail(host, SOMA_OUT_OF_MEMORY, "no memory for a tensor");
    for (i = 0; i < 4; ++i) block->numbers[i] = i + 0.5;
    block->shape[0] = 4;
    block->managed.version.major = 1;
    block->managed.manager_ctx = block;
    block->managed.deleter = end_of_loan;
    block->managed.tensor.data = block->numbers;
    block->managed.tensor.device.device_type = 1;
    block->managed.tensor.ndim = 1;
    block->managed.tensor.dtype.code = 2;
    block->managed.tensor.dtype.bits = 64;
    block->managed.tensor.dtype.lanes = 1;
    block->managed.tensor.shape = block->shape;
    status = api->tensor_from_dlpack(host, &block->managed, out);
    if (status != NULL) give_back(block);
    return status;
}

static soma_status* SOMA_CALL forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    sides_node* node = self;
    soma_string what = {NULL, 0};
    soma_status* status = api->get_string(node->host, input, &what);
    (void)ctx;
    if (status != NULL) return status;
    if (plain_is(what, "values")) return values(node->host, &outcome->value);
    if (plain_is(what, "failure")) return failure(node->host);
    if (plain_is(what, "tensor")) return tensor(node->host, &outcome->value);
    return api->make_int(node->host, count(), &outcome->value);
}

static const soma_node_type type = {.struct_size = sizeof(soma_node_type),
                                    .version = 1,
                                    .name = SOMA_STR("sides.node"),
                                    .create = create,
                                    .destroy = destroy,
                                    .forward = forward};

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    api = given;
    return api->register_node(host, &type);
}

static const soma_plugin_info info = {
    .struct_size = sizeof(soma_plugin_info), .name = SOMA_STR("sides"), .version = SOMA_STR("1.0")};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Has work in flight of every kind that may be under way when all else of the plugin is gone: a thread of its own, a node
 * that runs, a payload, a gradient. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "plain.h"

static soma_host* the_host;
static pthread_t worker;
static atomic_int finish;

static void say(const char* text) { api->log(the_host, SOMA_LOG_INFO, plain_text(""), plain_text(text)); }

static void rest(void) {
    const struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
}

static void* work(void* unused) {
    (void)unused;
    while (!atomic_load(&finish)) rest();
    say("the thread has ended");
    return NULL;
}

/* ---- a node that runs until it is cancelled ------------------------------------------------------------------------- */

static soma_status* SOMA_CALL wait_forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    plain_node* node = self;
    (void)input;
    say("running");
    while (!api->cancelled(node->host, ctx)) rest();
    return api->make_string(node->host, plain_text("ran to its end"), &outcome->value);
}

/* ---- a payload ------------------------------------------------------------------------------------------------------ */

static void SOMA_CALL box_destroy(void* payload) {
    free(payload);
    say("the payload is gone");
}

static const soma_opaque_type box_type = {sizeof(soma_opaque_type), 0, SOMA_STR("flight.box/1"), box_destroy, NULL};

static soma_status* SOMA_CALL box_forward(void* self, const soma_ctx* ctx, soma_value* input, soma_outcome* outcome) {
    plain_node* node = self;
    (void)ctx, (void)input;
    return api->make_opaque(node->host, &box_type, malloc(8), &outcome->value);
}

/* ---- a gradient of its own: the square of a vector of float64 numbers, by raw memory -------------------------------- */

typedef struct memory {
    soma_dl_managed managed;
    int64_t size;
    double numbers[];
} memory;

static void SOMA_CALL free_memory(soma_dl_managed* managed) { free(managed->manager_ctx); }

static soma_status* make_vector(soma_host* host, int64_t size, memory** out) {
    memory* made = calloc(1, sizeof *made + (size_t)size * sizeof made->numbers[0]);
    if (made == NULL) return plain_fail(host, SOMA_OUT_OF_MEMORY, "no memory for a vector");
    made->size = size;
    made->managed.version.major = 1;
    made->managed.manager_ctx = made;
    made->managed.deleter = free_memory;
    made->managed.tensor.data = made->numbers;
    made->managed.tensor.device.device_type = 1;
    made->managed.tensor.ndim = 1;
    made->managed.tensor.dtype.code = 2;
    made->managed.tensor.dtype.bits = 64;
    made->managed.tensor.dtype.lanes = 1;
    made->managed.tensor.shape = &made->size;
    *out = made;
    return NULL;
}

/* Makes the vector whose elements are scale * a * b. */
static soma_status* product(soma_host* host, double scale, soma_value* a, soma_value* b, soma_value** out) {
    soma_dl_managed* left = NULL;
    soma_dl_managed* right = NULL;
    memory* made = NULL;
    soma_status* status = api->tensor_to_dlpack(host, a, 0, &left);
    if (status == NULL) status = api->tensor_to_dlpack(host, b, 0, &right);
    if (status == NULL) status = make_vector(host, left->tensor.shape[0], &made);
    if (status == NULL) {
        int64_t i;
        /* A gradient may be one number repeated, without memory for each. */
        const int64_t left_stride = left->tensor.strides != NULL ? left->tensor.strides[0] : 1;
        const int64_t right_stride = right->tensor.strides != NULL ? right->tensor.strides[0] : 1;
        for (i = 0; i < made->size; ++i) {
            made->numbers[i] = scale * ((const double*)left->tensor.data)[i * left_stride] *
                               ((const double*)right->tensor.data)[i * right_stride];
        }
        status = api->tensor_from_dlpack(host, &made->managed, out);
        if (status != NULL) free(made);
    }
    if (left != NULL) left->deleter(left);
    if (right != NULL) right->deleter(right);
    return status;
}

static soma_status* SOMA_CALL square_forward(void* self, const soma_ctx* ctx, soma_value* input,
                                             soma_outcome* outcome) {
    plain_node* node = self;
    const soma_operator* detach = NULL;
    soma_value* plain = NULL;
    soma_call call = {0};
    soma_status* status = api->op_find(node->host, plain_text("aten::detach"), plain_text(""), &detach);
    (void)ctx;
    call.struct_size = sizeof call;
    call.args = &input;
    call.arg_count = 1;
    call.results = &plain;
    call.result_capacity = 1;
    if (status == NULL) status = api->op_call(node->host, detach, &call);
    if (status == NULL) status = product(node->host, 1, plain, plain, &outcome->value);
    outcome->saved = plain;
    return status;
}

static soma_status* SOMA_CALL square_backward(soma_host* host, soma_value* saved, soma_value* grads, soma_value** out) {
    soma_value* grad = NULL;
    soma_value* made = NULL;
    soma_status* status = api->get_item(host, grads, 0, &grad);
    if (status == NULL) status = product(host, 2, saved, grad, &made);
    if (status == NULL) status = api->make_list(host, &made, 1, out);
    api->value_release(host, made);
    return status;
}

/* ---- the plugin ----------------------------------------------------------------------------------------------------- */

#define COMMON(NAME)                                                                                                   \
    .struct_size = sizeof(soma_node_type), .version = 1, .name = SOMA_STR(NAME), .create = plain_create,               \
    .destroy = plain_destroy

static const soma_node_type types[] = {
    {COMMON("flight.wait"), .forward = wait_forward},
    {COMMON("flight.box"), .forward = box_forward},
    {COMMON("flight.square"), .flags = SOMA_NODE_DIFFERENTIABLE, .forward = square_forward,
     .backward = square_backward},
};

static soma_status* SOMA_CALL register_nodes(const soma_api* given, soma_host* host) {
    size_t i;
    soma_status* status = NULL;
    api = given;
    the_host = host;
    for (i = 0; status == NULL && i < sizeof types / sizeof types[0]; ++i) status = api->register_node(host, &types[i]);
    if (status == NULL && pthread_create(&worker, NULL, work, NULL) != 0) {
        status = plain_fail(host, SOMA_UNAVAILABLE, "there is no thread to be had");
    }
    return status;
}

static void SOMA_CALL shut_down(void) {
    atomic_store(&finish, 1);
    pthread_join(worker, NULL);
    say("shut down");
}

static const soma_plugin_info info = {
    .struct_size = sizeof(soma_plugin_info), .name = SOMA_STR("flight"), .version = SOMA_STR("1.0")};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
    .shutdown = shut_down,
};

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_TESTS_ABI_PLAIN_H
#define SOMA_TESTS_ABI_PLAIN_H
/* What the tests' plugins in plain C have in common. */
#include <stdlib.h>
#include <string.h>

#include "soma/abi.h"

static const soma_api* api;

typedef struct plain_node {
    soma_host* host;
    soma_value* config;
} plain_node;

static inline soma_string plain_text(const char* text) {
    soma_string string;
    string.data = text;
    string.size = strlen(text);
    return string;
}

static inline soma_status* plain_fail(soma_host* host, uint32_t code, const char* text) {
    return api->status_create(host, code, plain_text(text), NULL);
}

static inline soma_status* SOMA_CALL plain_create(soma_host* host, const soma_create_info* info, void** self) {
    plain_node* node = calloc(1, sizeof *node);
    if (node == NULL) return plain_fail(host, SOMA_OUT_OF_MEMORY, "no memory for a node");
    node->host = host;
    node->config = api->value_retain(host, info->config);
    *self = node;
    return NULL;
}

static inline void SOMA_CALL plain_destroy(void* self) {
    plain_node* node = self;
    api->value_release(node->host, node->config);
    free(node);
}

/* The configuration field `name`, borrowed; NULL when it cannot be had. */
static inline soma_value* plain_config(plain_node* node, const char* name) {
    soma_value* value = NULL;
    soma_status* status = api->get_entry(node->host, node->config, plain_text(name), &value);
    api->status_release(node->host, status);
    return value;
}

static inline int64_t plain_int(plain_node* node, const char* name) {
    int64_t number = 0;
    soma_status* status = api->get_int(node->host, plain_config(node, name), &number);
    api->status_release(node->host, status);
    return number;
}

static inline soma_string plain_string(plain_node* node, const char* name) {
    soma_string text = {NULL, 0};
    soma_status* status = api->get_string(node->host, plain_config(node, name), &text);
    api->status_release(node->host, status);
    return text;
}

static inline int plain_is(soma_string text, const char* expected) {
    return text.size == strlen(expected) && memcmp(text.data, expected, (size_t)text.size) == 0;
}

#endif

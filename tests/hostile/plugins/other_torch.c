/* SPDX-License-Identifier: Apache-2.0 */
/* Says that it was linked against a libtorch that no host has. */
#include "soma/abi.h"

struct note {
    uint32_t name_size;
    uint32_t text_size;
    uint32_t type;
    char name[8];
    char text[32];
};

__attribute__((section(".note.soma"), used, aligned(4))) static const struct note fingerprint = {
    5, sizeof "libtorch=9.9.9;cxx11abi=1" - 1, 1, "soma", "libtorch=9.9.9;cxx11abi=1"};

__attribute__((constructor)) static void initialise(void) { __builtin_trap(); }

static soma_status* SOMA_CALL register_nodes(const soma_api* api, soma_host* host) {
    (void)api;
    (void)host;
    return 0;
}

static const soma_plugin_info info = {.struct_size = sizeof(soma_plugin_info), .name = SOMA_STR("other torch")};

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = SOMA_PLUGIN_MAGIC,
    .struct_size = sizeof(soma_entry),
    .abi_major = SOMA_ABI_MAJOR,
    .built_minor = SOMA_ABI_MINOR,
    .info = &info,
    .register_nodes = register_nodes,
};

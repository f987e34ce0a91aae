/* SPDX-License-Identifier: Apache-2.0 */
/* An entry of which one thing is as the build says and the rest as it should be. If the host runs anything of it before
 * it judges the entry, the environment variable SOMA_TEST_RAN tells. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "soma/abi.h"

#ifndef ENTRY_MAGIC
#define ENTRY_MAGIC SOMA_PLUGIN_MAGIC
#endif
#ifndef ENTRY_SIZE
#define ENTRY_SIZE sizeof(soma_entry)
#endif
#ifndef ENTRY_MAJOR
#define ENTRY_MAJOR SOMA_ABI_MAJOR
#endif
#ifndef ENTRY_MIN_HOST_MINOR
#define ENTRY_MIN_HOST_MINOR 0
#endif
#ifndef ENTRY_FEATURES
#define ENTRY_FEATURES 0
#endif
#ifndef ENTRY_INFO
#define ENTRY_INFO &info
#endif
#ifndef ENTRY_REGISTER
#define ENTRY_REGISTER register_nodes
#endif
#ifndef INFO_SIZE
#define INFO_SIZE sizeof(soma_plugin_info)
#endif
#ifndef INFO_NAME
#define INFO_NAME "entry"
#endif
#ifndef INFO_AUTHOR
#define INFO_AUTHOR "somebody"
#endif

__attribute__((constructor)) static void initialise(void) { setenv("SOMA_TEST_RAN", "1", 1); }

static inline soma_status* SOMA_CALL register_nodes(const soma_api* api, soma_host* host) {
    const soma_string why = SOMA_STR("it does not want to");
    return api->status_create(host, SOMA_UNAVAILABLE, why, NULL);
}

static const soma_feature_name features[] = {{sizeof(soma_feature_name), 5, SOMA_STR("tensor-parallel")}};

static const soma_plugin_info info = {.struct_size = INFO_SIZE,
                                      .name = SOMA_STR(INFO_NAME),
                                      .author = SOMA_STR(INFO_AUTHOR),
                                      .feature_name_count = 1,
                                      .feature_names = features,
                                      .feature_name_stride = sizeof(soma_feature_name)};

/* For a build that leaves it out of the entry. */
extern const soma_plugin_info* entry_info_used(void);
const soma_plugin_info* entry_info_used(void) { return &info; }

SOMA_EXPORT const soma_entry soma_plugin_entry = {
    .magic = ENTRY_MAGIC,
    .struct_size = ENTRY_SIZE,
    .abi_major = ENTRY_MAJOR,
    .min_host_minor = ENTRY_MIN_HOST_MINOR,
    .built_minor = SOMA_ABI_MINOR,
    .required_features = ENTRY_FEATURES,
    .info = ENTRY_INFO,
    .register_nodes = ENTRY_REGISTER,
};

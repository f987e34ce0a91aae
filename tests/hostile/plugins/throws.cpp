// SPDX-License-Identifier: Apache-2.0
// Lets exceptions out wherever the host calls it, which no plugin may.
#include <cstdint>
#include <stdexcept>

#include "soma/abi.h"

namespace {

int mode(const soma_create_info* info, const soma_api* api, soma_host* host) {
    soma_value* value = nullptr;
    std::int64_t number = 0;
    api->status_release(host, api->get_entry(host, info->config, SOMA_STR("where"), &value));
    api->status_release(host, api->get_int(host, value, &number));
    return static_cast<int>(number);
}

const soma_api* api = nullptr;
char instance;

soma_status* create(soma_host* host, const soma_create_info* info, void** self) {
    if (mode(info, api, host) == 0) throw std::runtime_error{"create has had enough"};
    if (mode(info, api, host) == 1) throw 42;
    *self = &instance;
    return nullptr;
}

void destroy(void*) { throw std::runtime_error{"destroy has had enough"}; }

soma_status* forward(void*, const soma_ctx*, soma_value*, soma_outcome*) {
    throw std::runtime_error{"forward has had enough"};
}

std::uint32_t state_count(void*) { throw std::runtime_error{"state_count has had enough"}; }

soma_status* state_at(void*, std::uint32_t, soma_state*) { return nullptr; }

const soma_config_field fields[] = {{sizeof(soma_config_field),
                                     SOMA_KIND_INT,
                                     0,
                                     0,
                                     SOMA_STR("where"),
                                     {nullptr, 0},
                                     SOMA_STR("0"),
                                     {nullptr, 0},
                                     {nullptr, 0},
                                     {nullptr, 0}}};

soma_node_type make_type() {
    soma_node_type type{};
    type.struct_size = sizeof type;
    type.version = 1;
    type.name = SOMA_STR("throws.node");
    type.config = fields;
    type.config_count = 1;
    type.config_stride = sizeof fields[0];
    type.create = create;
    type.destroy = destroy;
    type.forward = forward;
    type.state_count = state_count;
    type.state_at = state_at;
    return type;
}

soma_status* register_nodes(const soma_api* given, soma_host* host) {
    static const soma_node_type type = make_type();
    api = given;
    if (soma_status* status = api->register_node(host, &type)) return status;
#ifdef THROWS_AT_REGISTRATION
    throw std::runtime_error{"register_nodes has had enough"};
#else
    return nullptr;
#endif
}

void shutdown() { throw std::runtime_error{"shutdown has had enough"}; }

soma_plugin_info make_info() {
    soma_plugin_info info{};
    info.struct_size = sizeof info;
    info.name = SOMA_STR("throws");
    return info;
}

const soma_plugin_info info = make_info();

} // namespace

extern "C" SOMA_EXPORT const soma_entry soma_plugin_entry = {
    SOMA_PLUGIN_MAGIC, sizeof(soma_entry), SOMA_ABI_MAJOR, 0, SOMA_ABI_MINOR, 0, &info,
    register_nodes,    shutdown,           nullptr};

// SPDX-License-Identifier: Apache-2.0
#include <soma/abi.h>

#include <map>
#include <string>

namespace {

const soma_api* api;
soma_host* host;

// Instantiates templates of the standard library, whose weak symbols must not leave the plugin.
std::map<std::string, int>& instances() {
    static std::map<std::string, int> counts;
    return counts;
}

soma_status* create(soma_host*, const soma_create_info* info, void** self) {
    *self = &++instances()[std::string(info->node_id.data, info->node_id.size)];
    return nullptr;
}

void destroy(void* self) { --*static_cast<int*>(self); }

soma_status* forward(void*, const soma_ctx*, soma_value* input, soma_outcome* outcome) {
    outcome->value = api->value_retain(host, input);
    return nullptr;
}

soma_status* register_nodes(const soma_api* given_api, soma_host* given_host) {
    api = given_api;
    host = given_host;
    static const soma_node_type same = [] {
        soma_node_type type{};
        type.struct_size = sizeof(soma_node_type);
        type.version = 1;
        type.name = SOMA_STR("outsider.same");
        type.doc = SOMA_STR("Gives back what it gets.");
        type.create = create;
        type.destroy = destroy;
        type.forward = forward;
        return type;
    }();
    return api->register_node(host, &same);
}

const soma_plugin_info info = [] {
    soma_plugin_info made{};
    made.struct_size = sizeof(soma_plugin_info);
    made.name = SOMA_STR("outsider");
    made.version = SOMA_STR("1.0");
    made.doc = SOMA_STR("Built against the installed package.");
    return made;
}();

} // namespace

const soma_entry soma_plugin_entry = {
    SOMA_PLUGIN_MAGIC, sizeof(soma_entry), SOMA_ABI_MAJOR, 0, SOMA_ABI_MINOR, 0, &info, register_nodes, nullptr,
    nullptr,
};

// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <stdexcept>

#include "conformance/helpers.h"

/// Nodes over the bare C interface that break its rules, each in one way.
namespace rude {
namespace {

const soma_api* api = nullptr;
soma_host* host = nullptr;

soma_status* create(soma_host*, const soma_create_info*, void** self) {
    static int nobody = 0;
    *self = &nobody;
    return nullptr;
}
void destroy(void*) {}

soma_status* throws_error(void*, const soma_ctx*, soma_value*, soma_outcome*) {
    throw std::runtime_error("it came through");
}
soma_status* throws_int(void*, const soma_ctx*, soma_value*, soma_outcome*) { throw 7; }
soma_status* gives_nothing(void*, const soma_ctx*, soma_value*, soma_outcome*) { return nullptr; }
soma_status* gives_other_kind(void*, const soma_ctx*, soma_value* input, soma_outcome* outcome) {
    outcome->kind = 9;
    outcome->value = api->value_retain(host, input);
    return nullptr;
}
/// An error and a value at once: the value does not count.
soma_status* gives_both(void*, const soma_ctx*, soma_value*, soma_outcome* outcome) {
    constexpr soma_string text = SOMA_STR("the ink is dry");
    constexpr soma_string cause = SOMA_STR("the sun shone");
    static_cast<void>(api->make_int(host, 5, &outcome->value));
    api->value_release(host, outcome->value);
    return api->status_create(host, SOMA_UNAVAILABLE, text, api->status_create(host, SOMA_UNKNOWN, cause, nullptr));
}
soma_status* gives_none(void*, const soma_ctx*, soma_value*, soma_outcome* outcome) {
    return api->make_none(host, &outcome->value);
}

struct Rude {
    soma_string name;
    decltype(soma_node_type::forward) forward;
};

soma_status* register_nodes(const soma_api* table, soma_host* self) {
    api = table;
    host = self;
    constexpr std::array nodes{
        Rude{SOMA_STR("rude.throws"), throws_error},        Rude{SOMA_STR("rude.throws_int"), throws_int},
        Rude{SOMA_STR("rude.nothing"), gives_nothing},      Rude{SOMA_STR("rude.other_kind"), gives_other_kind},
        Rude{SOMA_STR("rude.value_and_error"), gives_both}, Rude{SOMA_STR("rude.none"), gives_none},
    };
    static std::array<soma_node_type, nodes.size()> types{};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        types[i].struct_size = sizeof(soma_node_type);
        types[i].version = 1;
        types[i].name = nodes[i].name;
        types[i].doc = SOMA_STR("Breaks a rule.");
        types[i].create = create;
        types[i].destroy = destroy;
        types[i].forward = nodes[i].forward;
        if (soma_status* status = api->register_node(host, &types[i])) return status;
    }
    return nullptr;
}

constexpr soma_plugin_info info = [] {
    soma_plugin_info about{};
    about.struct_size = sizeof(soma_plugin_info);
    about.name = SOMA_STR("rude");
    about.version = SOMA_STR("1");
    return about;
}();

constexpr soma_entry entry{SOMA_PLUGIN_MAGIC,
                           sizeof(soma_entry),
                           SOMA_ABI_MAJOR,
                           0,
                           SOMA_ABI_MINOR,
                           0,
                           &info,
                           register_nodes,
                           nullptr,
                           nullptr};

} // namespace
} // namespace rude

namespace soma::test {

const soma_entry& rude_plugin = rude::entry;

} // namespace soma::test

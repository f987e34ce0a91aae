// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file host_check.h
/// What a plugin looks at before it trusts its host. Authors need nothing from here.

#include <soma/abi.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace soma::sdk::detail {

struct Slot {
    const char* name;
    std::size_t offset;
};

/// The functions this SDK calls.
inline constexpr Slot slots[] = {
    {"register_node", offsetof(soma_api, register_node)},
    {"get_extension", offsetof(soma_api, get_extension)},
    {"log", offsetof(soma_api, log)},
    {"status_create", offsetof(soma_api, status_create)},
    {"status_code", offsetof(soma_api, status_code)},
    {"status_message", offsetof(soma_api, status_message)},
    {"status_origin", offsetof(soma_api, status_origin)},
    {"status_cause", offsetof(soma_api, status_cause)},
    {"status_release", offsetof(soma_api, status_release)},
    {"value_retain", offsetof(soma_api, value_retain)},
    {"value_release", offsetof(soma_api, value_release)},
    {"value_kind", offsetof(soma_api, value_kind)},
    {"make_none", offsetof(soma_api, make_none)},
    {"make_bool", offsetof(soma_api, make_bool)},
    {"make_int", offsetof(soma_api, make_int)},
    {"make_float", offsetof(soma_api, make_float)},
    {"make_string", offsetof(soma_api, make_string)},
    {"make_bytes", offsetof(soma_api, make_bytes)},
    {"make_list", offsetof(soma_api, make_list)},
    {"make_dict", offsetof(soma_api, make_dict)},
    {"make_opaque", offsetof(soma_api, make_opaque)},
    {"get_bool", offsetof(soma_api, get_bool)},
    {"get_int", offsetof(soma_api, get_int)},
    {"get_float", offsetof(soma_api, get_float)},
    {"get_string", offsetof(soma_api, get_string)},
    {"get_bytes", offsetof(soma_api, get_bytes)},
    {"get_size", offsetof(soma_api, get_size)},
    {"get_item", offsetof(soma_api, get_item)},
    {"get_key", offsetof(soma_api, get_key)},
    {"get_entry", offsetof(soma_api, get_entry)},
    {"get_opaque", offsetof(soma_api, get_opaque)},
    {"tensor_info", offsetof(soma_api, tensor_info)},
    {"op_find", offsetof(soma_api, op_find)},
    {"op_call", offsetof(soma_api, op_call)},
    {"value_to", offsetof(soma_api, value_to)},
    {"state_to", offsetof(soma_api, state_to)},
    {"tensor_to_dlpack", offsetof(soma_api, tensor_to_dlpack)},
    {"tensor_from_dlpack", offsetof(soma_api, tensor_from_dlpack)},
    {"cancelled", offsetof(soma_api, cancelled)},
    {"make_generator", offsetof(soma_api, make_generator)},
};

/// What is wrong with this host, or an empty text.
inline std::string complaint(const soma_api* api, const soma_host* host) {
    if (api == nullptr) return "the host gave no table of functions";
    if (host == nullptr) return "the host gave the plugin no handle";
    if (!SOMA_HAS(api, soma_api, host_version)) return "the host's table of functions is too short to say its version";
    if (api->abi_major != SOMA_ABI_MAJOR) {
        return "the host speaks ABI major " + std::to_string(api->abi_major) + ", the plugin was built for " +
               std::to_string(SOMA_ABI_MAJOR);
    }
    for (const Slot& slot : slots) {
        // The members are pointers to functions of many types, of one size and representation.
        void (*function)() = nullptr;
        if (slot.offset + sizeof function <= api->struct_size) {
            std::memcpy(&function, reinterpret_cast<const char*>(api) + slot.offset, sizeof function);
        }
        if (function == nullptr) {
            return std::string{"the host lacks the function `"} + slot.name + "`, which this plugin needs (host ABI " +
                   std::to_string(api->abi_major) + "." + std::to_string(api->abi_minor) + ", plugin built for " +
                   std::to_string(SOMA_ABI_MAJOR) + "." + std::to_string(SOMA_ABI_MINOR) + ")";
        }
    }
    return {};
}

} // namespace soma::sdk::detail

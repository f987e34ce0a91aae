// SPDX-License-Identifier: Apache-2.0
#include "plugin/api.h"

#include <memory>
#include <string>

#include "soma/version.h"

namespace soma::detail {

namespace {

const char* host_version() {
    // Plugins may read it as long as they are loaded, which may be until the very end.
    static const std::string& text = *std::make_unique<std::string>("somatize " + std::string(version())).release();
    return text.c_str();
}

soma_api make_table() {
    soma_api table{};
    table.struct_size = sizeof table;
    table.abi_major = SOMA_ABI_MAJOR;
    table.abi_minor = SOMA_ABI_MINOR;
    table.host_version = host_version();
    table.register_node = api::register_node;
    table.get_extension = api::get_extension;
    table.log = api::log;
    table.status_create = api::status_create;
    table.status_code = api::status_code;
    table.status_message = api::status_message;
    table.status_origin = api::status_origin;
    table.status_cause = api::status_cause;
    table.status_release = api::status_release;
    table.value_retain = api::value_retain;
    table.value_release = api::value_release;
    table.value_kind = api::value_kind;
    table.make_none = api::make_none;
    table.make_bool = api::make_bool;
    table.make_int = api::make_int;
    table.make_float = api::make_float;
    table.make_string = api::make_string;
    table.make_bytes = api::make_bytes;
    table.make_list = api::make_list;
    table.make_dict = api::make_dict;
    table.make_opaque = api::make_opaque;
    table.get_bool = api::get_bool;
    table.get_int = api::get_int;
    table.get_float = api::get_float;
    table.get_string = api::get_string;
    table.get_bytes = api::get_bytes;
    table.get_size = api::get_size;
    table.get_item = api::get_item;
    table.get_key = api::get_key;
    table.get_entry = api::get_entry;
    table.get_opaque = api::get_opaque;
    table.tensor_info = api::tensor_info;
    table.op_find = api::op_find;
    table.op_call = api::op_call;
    table.value_to = api::value_to;
    table.state_to = api::state_to;
    table.tensor_to_dlpack = api::tensor_to_dlpack;
    table.tensor_from_dlpack = api::tensor_from_dlpack;
    table.cancelled = api::cancelled;
    table.make_generator = api::make_generator;
    return table;
}

} // namespace

const soma_api& plugin_api() noexcept {
    static const soma_api table = make_table();
    return table;
}

} // namespace soma::detail

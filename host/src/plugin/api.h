// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "soma/abi.h"

namespace soma::detail {

/// The table of functions that plugins are given.
const soma_api& plugin_api() noexcept;

} // namespace soma::detail

/// The functions in it; what each does is said in abi/host.h.
namespace soma::detail::api {

soma_status* register_node(soma_host* host, const soma_node_type* type);
const void* get_extension(soma_host* host, const char* id);
void log(soma_host* host, std::uint32_t level, soma_string node_id, soma_string text);

soma_status* status_create(soma_host* host, std::uint32_t code, soma_string message, soma_status* cause);
std::uint32_t status_code(soma_host* host, const soma_status* status);
soma_string status_message(soma_host* host, const soma_status* status);
soma_string status_origin(soma_host* host, const soma_status* status);
const soma_status* status_cause(soma_host* host, const soma_status* status);
void status_release(soma_host* host, soma_status* status);

soma_value* value_retain(soma_host* host, soma_value* value);
void value_release(soma_host* host, soma_value* value);
std::uint32_t value_kind(soma_host* host, const soma_value* value);

soma_status* make_none(soma_host* host, soma_value** out);
soma_status* make_bool(soma_host* host, std::uint32_t value, soma_value** out);
soma_status* make_int(soma_host* host, std::int64_t value, soma_value** out);
soma_status* make_float(soma_host* host, double value, soma_value** out);
soma_status* make_string(soma_host* host, soma_string text, soma_value** out);
soma_status* make_bytes(soma_host* host, const void* data, std::uint64_t size, soma_value** out);
soma_status* make_list(soma_host* host, soma_value* const* items, std::uint64_t count, soma_value** out);
soma_status* make_dict(soma_host* host, const soma_string* keys, soma_value* const* values, std::uint64_t count,
                       soma_value** out);
soma_status* make_opaque(soma_host* host, const soma_opaque_type* type, void* payload, soma_value** out);

soma_status* get_bool(soma_host* host, const soma_value* value, std::uint32_t* out);
soma_status* get_int(soma_host* host, const soma_value* value, std::int64_t* out);
soma_status* get_float(soma_host* host, const soma_value* value, double* out);
soma_status* get_string(soma_host* host, const soma_value* value, soma_string* out);
soma_status* get_bytes(soma_host* host, const soma_value* value, const void** data, std::uint64_t* size);
soma_status* get_size(soma_host* host, const soma_value* value, std::uint64_t* out);
soma_status* get_item(soma_host* host, const soma_value* value, std::uint64_t index, soma_value** out);
soma_status* get_key(soma_host* host, const soma_value* value, std::uint64_t index, soma_string* out);
soma_status* get_entry(soma_host* host, const soma_value* value, soma_string key, soma_value** out);
soma_status* get_opaque(soma_host* host, const soma_value* value, soma_string type_id, void** payload);

soma_status* tensor_info(soma_host* host, const soma_value* value, soma_tensor_info* out);
soma_status* op_find(soma_host* host, soma_string name, soma_string overload, const soma_operator** out);
soma_status* op_call(soma_host* host, const soma_operator* op, soma_call* call);
soma_status* value_to(soma_host* host, soma_value* value, soma_string device, soma_value** out);
soma_status* state_to(soma_host* host, soma_value* tensor, soma_string device);
soma_status* tensor_to_dlpack(soma_host* host, soma_value* tensor, std::uint32_t writable, soma_dl_managed** out);
soma_status* tensor_from_dlpack(soma_host* host, soma_dl_managed* managed, soma_value** out);

std::uint32_t cancelled(soma_host* host, const soma_ctx* ctx);
soma_status* make_generator(soma_host* host, const soma_ctx* ctx, soma_value** out);

} // namespace soma::detail::api

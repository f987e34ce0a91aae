/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_LAYOUT_H
#define SOMA_ABI_LAYOUT_H
/**
 * @file layout.h
 * Pins the size of every struct and the offset of every field: a change that moves one does not compile. Fields are only
 * ever appended, here as in the struct; the records under `layout/` hold what was released.
 */
#include "dlpack.h"
#include "entry.h"

#define SOMA_SIZE(type, size) SOMA_STATIC_ASSERT(sizeof(type) == (size), "the size of " #type " has changed")
#define SOMA_AT(type, field, offset)                                                                                   \
    SOMA_STATIC_ASSERT(offsetof(type, field) == (offset), #type "." #field " has moved")

SOMA_SIZE(soma_string, 16);
SOMA_AT(soma_string, data, 0);
SOMA_AT(soma_string, size, 8);

SOMA_SIZE(soma_place, 8);
SOMA_AT(soma_place, kind, 0);
SOMA_AT(soma_place, index, 4);

SOMA_SIZE(soma_ctx, 72);
SOMA_AT(soma_ctx, struct_size, 0);
SOMA_AT(soma_ctx, grad_mode, 4);
SOMA_AT(soma_ctx, node_id, 8);
SOMA_AT(soma_ctx, device, 24);
SOMA_AT(soma_ctx, place, 32);
SOMA_AT(soma_ctx, stream, 40);
SOMA_AT(soma_ctx, run_id, 48);
SOMA_AT(soma_ctx, seed, 56);
SOMA_AT(soma_ctx, training, 64);
SOMA_AT(soma_ctx, reserved, 68);

SOMA_SIZE(soma_dl_version, 8);
SOMA_AT(soma_dl_version, major, 0);
SOMA_AT(soma_dl_version, minor, 4);

SOMA_SIZE(soma_dl_device, 8);
SOMA_AT(soma_dl_device, device_type, 0);
SOMA_AT(soma_dl_device, device_id, 4);

SOMA_SIZE(soma_dl_datatype, 4);
SOMA_AT(soma_dl_datatype, code, 0);
SOMA_AT(soma_dl_datatype, bits, 1);
SOMA_AT(soma_dl_datatype, lanes, 2);

SOMA_SIZE(soma_dl_tensor, 48);
SOMA_AT(soma_dl_tensor, data, 0);
SOMA_AT(soma_dl_tensor, device, 8);
SOMA_AT(soma_dl_tensor, ndim, 16);
SOMA_AT(soma_dl_tensor, dtype, 20);
SOMA_AT(soma_dl_tensor, shape, 24);
SOMA_AT(soma_dl_tensor, strides, 32);
SOMA_AT(soma_dl_tensor, byte_offset, 40);

SOMA_SIZE(soma_dl_managed, 80);
SOMA_AT(soma_dl_managed, version, 0);
SOMA_AT(soma_dl_managed, manager_ctx, 8);
SOMA_AT(soma_dl_managed, deleter, 16);
SOMA_AT(soma_dl_managed, flags, 24);
SOMA_AT(soma_dl_managed, tensor, 32);

SOMA_SIZE(soma_opaque_type, 40);
SOMA_AT(soma_opaque_type, struct_size, 0);
SOMA_AT(soma_opaque_type, reserved, 4);
SOMA_AT(soma_opaque_type, type_id, 8);
SOMA_AT(soma_opaque_type, destroy, 24);
SOMA_AT(soma_opaque_type, place, 32);

SOMA_SIZE(soma_config_field, 112);
SOMA_AT(soma_config_field, struct_size, 0);
SOMA_AT(soma_config_field, kind, 4);
SOMA_AT(soma_config_field, flags, 8);
SOMA_AT(soma_config_field, reserved, 12);
SOMA_AT(soma_config_field, name, 16);
SOMA_AT(soma_config_field, doc, 32);
SOMA_AT(soma_config_field, default_json, 48);
SOMA_AT(soma_config_field, choices_json, 64);
SOMA_AT(soma_config_field, minimum_json, 80);
SOMA_AT(soma_config_field, maximum_json, 96);

SOMA_SIZE(soma_port, 40);
SOMA_AT(soma_port, struct_size, 0);
SOMA_AT(soma_port, kind, 4);
SOMA_AT(soma_port, name, 8);
SOMA_AT(soma_port, doc, 24);

SOMA_SIZE(soma_create_info, 64);
SOMA_AT(soma_create_info, struct_size, 0);
SOMA_AT(soma_create_info, reserved, 4);
SOMA_AT(soma_create_info, node_id, 8);
SOMA_AT(soma_create_info, config, 24);
SOMA_AT(soma_create_info, device, 32);
SOMA_AT(soma_create_info, place, 40);
SOMA_AT(soma_create_info, seed, 48);
SOMA_AT(soma_create_info, type_data, 56);

SOMA_SIZE(soma_outcome, 24);
SOMA_AT(soma_outcome, struct_size, 0);
SOMA_AT(soma_outcome, kind, 4);
SOMA_AT(soma_outcome, value, 8);
SOMA_AT(soma_outcome, saved, 16);

SOMA_SIZE(soma_state, 40);
SOMA_AT(soma_state, struct_size, 0);
SOMA_AT(soma_state, role, 4);
SOMA_AT(soma_state, persistent, 8);
SOMA_AT(soma_state, reserved, 12);
SOMA_AT(soma_state, name, 16);
SOMA_AT(soma_state, value, 32);

SOMA_SIZE(soma_node_type, 192);
SOMA_AT(soma_node_type, struct_size, 0);
SOMA_AT(soma_node_type, version, 4);
SOMA_AT(soma_node_type, name, 8);
SOMA_AT(soma_node_type, doc, 24);
SOMA_AT(soma_node_type, config, 40);
SOMA_AT(soma_node_type, config_count, 48);
SOMA_AT(soma_node_type, config_stride, 52);
SOMA_AT(soma_node_type, inputs, 56);
SOMA_AT(soma_node_type, input_count, 64);
SOMA_AT(soma_node_type, input_stride, 68);
SOMA_AT(soma_node_type, outputs, 72);
SOMA_AT(soma_node_type, output_count, 80);
SOMA_AT(soma_node_type, output_stride, 84);
SOMA_AT(soma_node_type, flags, 88);
SOMA_AT(soma_node_type, example_json, 96);
SOMA_AT(soma_node_type, type_data, 112);
SOMA_AT(soma_node_type, create, 120);
SOMA_AT(soma_node_type, destroy, 128);
SOMA_AT(soma_node_type, forward, 136);
SOMA_AT(soma_node_type, state_count, 144);
SOMA_AT(soma_node_type, state_at, 152);
SOMA_AT(soma_node_type, state_set, 160);
SOMA_AT(soma_node_type, moved, 168);
SOMA_AT(soma_node_type, backward, 176);
SOMA_AT(soma_node_type, get_extension, 184);

SOMA_SIZE(soma_tensor_info, 80);
SOMA_AT(soma_tensor_info, struct_size, 0);
SOMA_AT(soma_tensor_info, ndim, 4);
SOMA_AT(soma_tensor_info, place, 8);
SOMA_AT(soma_tensor_info, device, 16);
SOMA_AT(soma_tensor_info, dtype, 32);
SOMA_AT(soma_tensor_info, sizes, 48);
SOMA_AT(soma_tensor_info, strides, 56);
SOMA_AT(soma_tensor_info, numel, 64);
SOMA_AT(soma_tensor_info, dl_dtype, 72);
SOMA_AT(soma_tensor_info, requires_grad, 76);

SOMA_SIZE(soma_call, 56);
SOMA_AT(soma_call, struct_size, 0);
SOMA_AT(soma_call, arg_count, 4);
SOMA_AT(soma_call, args, 8);
SOMA_AT(soma_call, named_count, 16);
SOMA_AT(soma_call, result_capacity, 20);
SOMA_AT(soma_call, names, 24);
SOMA_AT(soma_call, named, 32);
SOMA_AT(soma_call, results, 40);
SOMA_AT(soma_call, result_count, 48);
SOMA_AT(soma_call, reserved, 52);

SOMA_SIZE(soma_api, 344);
SOMA_AT(soma_api, struct_size, 0);
SOMA_AT(soma_api, abi_major, 4);
SOMA_AT(soma_api, abi_minor, 8);
SOMA_AT(soma_api, reserved, 12);
SOMA_AT(soma_api, host_version, 16);
SOMA_AT(soma_api, register_node, 24);
SOMA_AT(soma_api, get_extension, 32);
SOMA_AT(soma_api, log, 40);
SOMA_AT(soma_api, status_create, 48);
SOMA_AT(soma_api, status_code, 56);
SOMA_AT(soma_api, status_message, 64);
SOMA_AT(soma_api, status_origin, 72);
SOMA_AT(soma_api, status_cause, 80);
SOMA_AT(soma_api, status_release, 88);
SOMA_AT(soma_api, value_retain, 96);
SOMA_AT(soma_api, value_release, 104);
SOMA_AT(soma_api, value_kind, 112);
SOMA_AT(soma_api, make_none, 120);
SOMA_AT(soma_api, make_bool, 128);
SOMA_AT(soma_api, make_int, 136);
SOMA_AT(soma_api, make_float, 144);
SOMA_AT(soma_api, make_string, 152);
SOMA_AT(soma_api, make_bytes, 160);
SOMA_AT(soma_api, make_list, 168);
SOMA_AT(soma_api, make_dict, 176);
SOMA_AT(soma_api, make_opaque, 184);
SOMA_AT(soma_api, get_bool, 192);
SOMA_AT(soma_api, get_int, 200);
SOMA_AT(soma_api, get_float, 208);
SOMA_AT(soma_api, get_string, 216);
SOMA_AT(soma_api, get_bytes, 224);
SOMA_AT(soma_api, get_size, 232);
SOMA_AT(soma_api, get_item, 240);
SOMA_AT(soma_api, get_key, 248);
SOMA_AT(soma_api, get_entry, 256);
SOMA_AT(soma_api, get_opaque, 264);
SOMA_AT(soma_api, tensor_info, 272);
SOMA_AT(soma_api, op_find, 280);
SOMA_AT(soma_api, op_call, 288);
SOMA_AT(soma_api, value_to, 296);
SOMA_AT(soma_api, state_to, 304);
SOMA_AT(soma_api, tensor_to_dlpack, 312);
SOMA_AT(soma_api, tensor_from_dlpack, 320);
SOMA_AT(soma_api, cancelled, 328);
SOMA_AT(soma_api, make_generator, 336);

SOMA_SIZE(soma_feature_name, 24);
SOMA_AT(soma_feature_name, struct_size, 0);
SOMA_AT(soma_feature_name, bit, 4);
SOMA_AT(soma_feature_name, name, 8);

SOMA_SIZE(soma_plugin_info, 120);
SOMA_AT(soma_plugin_info, struct_size, 0);
SOMA_AT(soma_plugin_info, feature_name_count, 4);
SOMA_AT(soma_plugin_info, name, 8);
SOMA_AT(soma_plugin_info, version, 24);
SOMA_AT(soma_plugin_info, doc, 40);
SOMA_AT(soma_plugin_info, author, 56);
SOMA_AT(soma_plugin_info, license, 72);
SOMA_AT(soma_plugin_info, url, 88);
SOMA_AT(soma_plugin_info, feature_names, 104);
SOMA_AT(soma_plugin_info, feature_name_stride, 112);
SOMA_AT(soma_plugin_info, reserved, 116);

SOMA_SIZE(soma_entry, 64);
SOMA_AT(soma_entry, magic, 0);
SOMA_AT(soma_entry, struct_size, 8);
SOMA_AT(soma_entry, abi_major, 12);
SOMA_AT(soma_entry, min_host_minor, 16);
SOMA_AT(soma_entry, built_minor, 20);
SOMA_AT(soma_entry, required_features, 24);
SOMA_AT(soma_entry, info, 32);
SOMA_AT(soma_entry, register_nodes, 40);
SOMA_AT(soma_entry, shutdown, 48);
SOMA_AT(soma_entry, get_extension, 56);

#undef SOMA_AT
#undef SOMA_SIZE

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_NODE_LAYOUT_H
#define SOMA_ABI_NODE_LAYOUT_H
/**
 * @file node_layout.h
 * Pins the layout of the structs in node.h: a change that moves a field does not compile.
 */
#include "node.h"

SOMA_STATIC_ASSERT(offsetof(soma_config_field, flags) == 8 && offsetof(soma_config_field, name) == 16, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_config_field, doc) == 32 && offsetof(soma_config_field, default_json) == 48, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_config_field, choices_json) == 64, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_config_field, minimum_json) == 80, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_config_field, maximum_json) == 96 && sizeof(soma_config_field) == 112, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_port, name) == 8 && offsetof(soma_port, doc) == 24, "layout");
SOMA_STATIC_ASSERT(sizeof(soma_port) == 40, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_create_info, node_id) == 8 && offsetof(soma_create_info, config) == 24, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_create_info, device) == 32 && offsetof(soma_create_info, place) == 40, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_create_info, seed) == 48 && offsetof(soma_create_info, type_data) == 56, "layout");
SOMA_STATIC_ASSERT(sizeof(soma_create_info) == 64, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_outcome, value) == 8 && offsetof(soma_outcome, saved) == 16, "layout");
SOMA_STATIC_ASSERT(sizeof(soma_outcome) == 24, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_state, persistent) == 8 && offsetof(soma_state, name) == 16, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_state, value) == 32 && sizeof(soma_state) == 40, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, version) == 4 && offsetof(soma_node_type, name) == 8, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, doc) == 24 && offsetof(soma_node_type, config) == 40, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, config_count) == 48 && offsetof(soma_node_type, inputs) == 56, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, input_count) == 64 && offsetof(soma_node_type, outputs) == 72, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, output_count) == 80 && offsetof(soma_node_type, flags) == 88, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, example_json) == 96, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, type_data) == 112 && offsetof(soma_node_type, create) == 120, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, destroy) == 128 && offsetof(soma_node_type, forward) == 136, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, state_count) == 144, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, state_at) == 152 && offsetof(soma_node_type, state_set) == 160, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, moved) == 168 && offsetof(soma_node_type, backward) == 176, "layout");
SOMA_STATIC_ASSERT(offsetof(soma_node_type, get_extension) == 184 && sizeof(soma_node_type) == 192, "layout");

#endif

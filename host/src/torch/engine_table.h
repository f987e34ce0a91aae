// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "soma/detail/engine.h"

/// The functions of the engine's table, by the file that defines them. What each does is said in soma/detail/engine.h.
namespace soma::detail {

// tensor.cpp
void engine_release(std::uint32_t kind, void* payload) noexcept;
soma_place engine_place(std::uint32_t kind, void* payload) noexcept;
std::uint64_t engine_place_text(soma_place place, char* buffer, std::uint64_t capacity) noexcept;
soma_status* engine_info(void* tensor, soma_tensor_info* out) noexcept;
std::uint64_t engine_shape_text(void* tensor, char* buffer, std::uint64_t capacity) noexcept;
bool engine_version(void* tensor, std::uint64_t* out) noexcept;
bool engine_requires_grad(void* tensor) noexcept;
std::uint64_t engine_storage_id(void* tensor) noexcept;

// move.cpp
soma_status* engine_to(soma_value* tensor, soma_place place, soma_value** out) noexcept;
soma_status* engine_state_to(soma_value* tensor, soma_place place) noexcept;
soma_status* engine_to_meta(soma_value* tensor, soma_value** out) noexcept;
soma_status* engine_generator(soma_place place, std::uint64_t seed, soma_value** out) noexcept;

// lists.cpp
soma_status* engine_to_nested(void* tensor, soma_value** out) noexcept;
soma_status* engine_from_nested(soma_value* nested, soma_string dtype, soma_value** out) noexcept;

// dlpack.cpp
soma_status* engine_to_dlpack(soma_value* tensor, std::uint32_t writable, soma_dl_managed** out) noexcept;
soma_status* engine_from_dlpack(soma_dl_managed* managed, soma_value** out) noexcept;

// operators.cpp
soma_status* engine_op_find(soma_string name, soma_string overload, const soma_operator** out) noexcept;
soma_status* engine_op_call(const soma_operator* op, soma_call* call) noexcept;

// borrowed.cpp
void engine_set_borrowed(const Borrowed* borrowed) noexcept;

// devices.cpp
std::uint32_t engine_device_count(std::int32_t kind) noexcept;
bool engine_has_backend(std::int32_t kind) noexcept;
std::int32_t engine_exchange_device(soma_place place) noexcept;
void* engine_stream(soma_place place) noexcept;
void engine_synchronize(soma_place place) noexcept;

// thread_state.cpp
void* engine_state_capture() noexcept;
void engine_state_free(void* state) noexcept;
void* engine_state_enter(const void* state) noexcept;
void engine_state_leave(void* guard) noexcept;
void engine_state_words(StateWords* out) noexcept;
void engine_state_restore(const StateWords* words) noexcept;
void engine_state_watch(StateWatch* out) noexcept;
bool engine_grad_enabled() noexcept;
std::int32_t engine_intraop_threads() noexcept;
void engine_set_intraop_threads(std::int32_t count) noexcept;

// backward.cpp
soma_status* engine_attach_backward(const BackwardCall* call, soma_value* saved, soma_value* inputs, soma_value* result,
                                    soma_value** out) noexcept;

// extension.cpp
const void* engine_extension(const char* id) noexcept;

} // namespace soma::detail

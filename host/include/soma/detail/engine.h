// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "soma/abi.h"
#include "soma/export.h"

namespace soma::detail {

/// A few words of a thread's tensor-library state, cheap to read after every node (grad mode, inference mode, dispatch
/// keys that carry autocast, default dtype, number of intra-op threads). Compared byte by byte.
struct StateWords {
    /// So many of them, the first, are what a worker takes over from its caller; the others are each thread's own.
    static constexpr std::size_t inherited = 4;
    std::uint64_t words[8];
};

/// Where this thread's state lies that an operator called through the host could change: few bytes, compared after every
/// node without calling anybody. A difference is a reason to look at all of `StateWords`.
struct StateWatch {
    const void* at[2];
    std::uint32_t size[2];
};

/// What a node's input lent to several siblings looks like to the engine while that node runs: writing to it is refused.
struct Borrowed {
    const char* node;   ///< the node that runs
    const char* sharer; ///< a sibling that reads the same value
    soma_value* value;  ///< the shared input
};

/// What a custom backward needs; the engine calls `release` once when the graph node dies.
struct BackwardCall {
    soma_status* (*run)(void* owner, soma_value* saved, soma_value* grads, soma_value** out);
    void (*release)(void* owner) noexcept;
    void* owner;
    const char* node; ///< lives as long as `owner`
};

/// Everything the core asks of the tensor library. `libsomatize-torch` fills one in; the core never links it.
///
/// Tensors and generators are the engine's own pointers (`soma_value::payload`). Functions that fail return a status made
/// by the core. All are safe from any thread.
struct Engine {
    std::uint32_t struct_size;
    std::uint32_t revision;   ///< engine_revision it was built with
    const char* core_version; ///< version of the core it was built with
    const char* library;      ///< e.g. "libtorch 1.13.1"
    const char* fingerprint;  ///< what a plugin that links libtorch must match, e.g. "libtorch=1.13.1;cxx11abi=1"

    // Tensors and generators.
    void (*release)(std::uint32_t kind, void* payload) noexcept;
    soma_place (*place)(std::uint32_t kind, void* payload) noexcept;
    /// Text of a place as libtorch writes it; returns the length, never more than `capacity`.
    std::uint64_t (*place_text)(soma_place place, char* buffer, std::uint64_t capacity) noexcept;
    soma_status* (*info)(void* tensor, soma_tensor_info* out) noexcept;
    /// dtype and shape for a table, e.g. "float32[14, 256]".
    std::uint64_t (*shape_text)(void* tensor, char* buffer, std::uint64_t capacity) noexcept;
    /// The elements as nested lists of ints, floats, bools (a complex number as [re, im]); copies to cpu.
    soma_status* (*to_nested)(void* tensor, soma_value** out) noexcept;
    /// A cpu tensor from nested lists; `dtype` may be empty.
    soma_status* (*from_nested)(soma_value* nested, soma_string dtype, soma_value** out) noexcept;
    /// Differentiable; the same tensor when it is there already.
    soma_status* (*to)(soma_value* tensor, soma_place place, soma_value** out) noexcept;
    /// In place, identity and gradient kept.
    soma_status* (*state_to)(soma_value* tensor, soma_place place) noexcept;
    /// A fresh tensor on meta of the same shape, dtype and requires_grad.
    soma_status* (*to_meta)(soma_value* tensor, soma_value** out) noexcept;
    soma_status* (*to_dlpack)(soma_value* tensor, std::uint32_t writable, soma_dl_managed** out) noexcept;
    soma_status* (*from_dlpack)(soma_dl_managed* managed, soma_value** out) noexcept;
    soma_status* (*generator)(soma_place place, std::uint64_t seed, soma_value** out) noexcept;

    // Operators.
    soma_status* (*op_find)(soma_string name, soma_string overload, const soma_operator** out) noexcept;
    soma_status* (*op_call)(const soma_operator* op, soma_call* call) noexcept;
    const void* (*extension)(const char* id) noexcept;

    // Machine.
    /// Devices of a kind that can be used now; 1 for cpu and meta.
    std::uint32_t (*device_count)(std::int32_t kind) noexcept;
    /// Whether this libtorch was built for the kind at all.
    bool (*has_backend)(std::int32_t kind) noexcept;

    // Thread state.
    /// The caller's whole thread-local state; free it with `state_free`.
    void* (*state_capture)() noexcept;
    void (*state_free)(void* state) noexcept;
    /// Installs it on this thread until `state_leave` of what this returns; null when it was equal already.
    void* (*state_enter)(const void* state) noexcept;
    void (*state_leave)(void* guard) noexcept;
    void (*state_words)(StateWords* out) noexcept;
    /// Puts back what differs.
    void (*state_restore)(const StateWords* words) noexcept;
    bool (*grad_enabled)() noexcept;
    std::int32_t (*intraop_threads)() noexcept;
    void (*set_intraop_threads)(std::int32_t count) noexcept;
    /// Makes it the thread's current device; returns the index that was current before.
    std::int32_t (*exchange_device)(soma_place place) noexcept;
    /// The native handle of the thread's current stream there; null on cpu.
    void* (*stream)(soma_place place) noexcept;

    // Sharing.
    /// What the running node must not write to on this thread; null for nothing. The pointee outlives the call.
    void (*set_borrowed)(const Borrowed* borrowed) noexcept;
    /// Counts the writes to the tensor's memory; false under inference mode, where nothing counts.
    bool (*version)(void* tensor, std::uint64_t* out) noexcept;

    // Autograd.
    bool (*requires_grad)(void* tensor) noexcept;
    /// The tensors of `result` that have no gradient function get one that calls `call` and passes gradients to
    /// `inputs` (a list of tensors); takes over `call`'s owner also on failure. `*out` is `result` with those tensors.
    soma_status* (*attach_backward)(const BackwardCall* call, soma_value* saved, soma_value* inputs, soma_value* result,
                                    soma_value** out) noexcept;
    /// A number that is equal for two tensors that share memory, and 0 for none.
    std::uint64_t (*storage_id)(void* tensor) noexcept;
    /// Blocks until the work queued on the place's current stream is done.
    void (*synchronize)(soma_place place) noexcept;
    /// Fills in where to look, for the calling thread as long as it lives.
    void (*state_watch)(StateWatch* out) noexcept;
};

inline constexpr std::uint32_t engine_revision = 1;

/// The engine if one is in the process, else null. One atomic load.
SOMA_API const Engine* engine() noexcept;
/// The engine, loaded if need be: the one already in the process, else `libsomatize-torch` beside the core. Throws
/// `EngineError` with the paths tried and the loader's reason.
SOMA_API const Engine& require_engine();
/// Called by the engine library when it is loaded; the first one stays.
SOMA_API void provide_engine(const Engine* engine) noexcept;

} // namespace soma::detail

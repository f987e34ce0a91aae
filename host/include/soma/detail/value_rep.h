// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "soma/abi.h"
#include "soma/export.h"

/// What a handle points to. Known to the core and to the tensor engine alone, which are built together.
struct soma_value {
    std::atomic<std::uint32_t> refs;
    std::uint32_t kind;
    union {
        bool boolean;
        std::int64_t integer;
        double real;
        void* payload; ///< tensor and generator: the engine's own; everything else: the core's
    };
};

namespace soma::detail {

/// A tensor or generator value; takes over the engine's reference `payload`.
SOMA_API soma_value* make_engine_value(std::uint32_t kind, void* payload);

/// Frees a value whose last reference went.
SOMA_API void destroy_value(soma_value* value) noexcept;

inline void retain(soma_value* value) noexcept { value->refs.fetch_add(1, std::memory_order_relaxed); }

/// One reference less; whether it was the last.
inline bool drop_reference(soma_value* value) noexcept {
    // Being the only owner needs no read-modify-write: nobody else can come to own it.
    return value->refs.load(std::memory_order_acquire) == 1 || value->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

inline void release(soma_value* value) noexcept {
    if (drop_reference(value)) destroy_value(value);
}

} // namespace soma::detail

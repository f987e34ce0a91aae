// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/engine_now.h"
#include "soma/detail/value_rep.h"
#include "soma/device.h"
#include "soma/value.h"

namespace soma::exec {

/// Where a value itself is, not what it holds; kind SOMA_DEVICE_NONE when it lives nowhere in particular.
inline soma_place place_of_tensor(const soma_value* value) noexcept {
    return detail::engine_now()->place(value->kind, value->payload);
}

/// A value that is not where it was declared to be.
struct Misplaced {
    std::string found; ///< as libtorch writes it
    std::string path;  ///< "[1].mask"; empty for the result itself
};

/// Looks at everything in `value`; true when all of it is on `declared`. Fills `out` with the first that is not. A
/// comparison of metadata: nothing is copied, nothing waited for. `host` is the plugin's, for opaque values.
bool is_on(const Value& value, soma_place declared, Misplaced& out);

/// For the items of a list or the values of a dict, none of which holds others: false when `is_on` must look closer.
bool holds_at(const soma_value* value, soma_place declared, const detail::Engine* engine) noexcept;

/// The same as `is_on` for the hot path, where it is most often a lone tensor: false when `is_on` must look closer.
inline bool is_at(const soma_value* value, soma_place declared, const detail::Engine* engine) noexcept {
    if (value->kind == SOMA_KIND_TENSOR) {
        if (engine == nullptr) return false;
        const soma_place place = engine->place(value->kind, value->payload);
        return place.kind == declared.kind && place.index == declared.index;
    }
    if (value->kind < SOMA_KIND_LIST) return true;
    return value->kind <= SOMA_KIND_DICT && holds_at(value, declared, engine);
}

/// A place as libtorch writes it.
std::string place_text(soma_place place);

/// Every tensor in a value, in order of appearance.
void collect_tensors(const Value& value, std::vector<Value>& out);

} // namespace soma::exec

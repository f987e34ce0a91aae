// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

#include "core/value_data.h"
#include "soma/detail/value_rep.h"
#include "soma/value.h"

namespace soma::detail {

// A tensor value's payload is the owned TensorImpl pointer, which is all that an at::Tensor consists of: the slot can be
// read as one, and lent as one.
static_assert(sizeof(at::Tensor) == sizeof(void*) && alignof(at::Tensor) == alignof(void*));

inline c10::TensorImpl* impl_of(void* payload) noexcept { return static_cast<c10::TensorImpl*>(payload); }

/// The tensor of a tensor value, borrowed from it.
inline const at::Tensor& tensor_of(const soma_value* value) noexcept {
    return *reinterpret_cast<const at::Tensor*>(&value->payload);
}

/// The same of a payload.
inline const at::Tensor& tensor_at(void* const& payload) noexcept {
    return *reinterpret_cast<const at::Tensor*>(&payload);
}

/// A new value; an undefined tensor becomes none.
inline soma_value* give(at::Tensor tensor) {
    if (!tensor.defined()) return Value().release();
    return make_engine_value(SOMA_KIND_TENSOR, tensor.unsafeReleaseTensorImpl());
}

/// Reads a borrowed handle through `Value` without counting a reference.
class Reading {
public:
    explicit Reading(soma_value* value) noexcept : value_(Value::adopt(value)) {}
    ~Reading() { static_cast<void>(value_.release()); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    const Value& operator*() const noexcept { return value_; }
    const Value* operator->() const noexcept { return &value_; }

private:
    Value value_;
};

/// Calls `visit(const at::Tensor&)` for every tensor in the value, in order of appearance.
template <typename Visit>
void each_tensor(const Value& value, Visit&& visit) {
    switch (value.kind()) {
    case Kind::tensor: visit(tensor_of(value.handle())); break;
    case Kind::list:
    case Kind::dict:
        for (std::size_t i = 0, n = value.size(); i < n; ++i) each_tensor(value.at(i), visit);
        break;
    default: break;
    }
}

/// "a tensor", "an int", …: what was given where something else was wanted.
const char* kind_with_article(std::uint32_t kind) noexcept;

} // namespace soma::detail

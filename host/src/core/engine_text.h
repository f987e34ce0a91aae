// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "soma/value.h"

namespace soma::detail {

/// Where a tensor, generator or opaque value is, as libtorch writes it; empty for one that does not say or that is
/// nowhere in particular.
std::string place_text(const Value& value);

/// dtype and shape of a tensor, e.g. "float32[14, 256]".
std::string shape_text(const Value& tensor);

/// What a tensor is written as. One on `meta` has no elements.
struct TensorText {
    Value elements;
    Value shape;
    bool has_data = true;
    std::string dtype;
    std::string device;
};

/// Throws `ValueError` with the engine's reason.
TensorText tensor_text(const Value& tensor);

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "soma/export.h"
#include "soma/value.h"

namespace soma {

/// Reads JSON text. Objects become dicts in the order written, whole numbers ints where they fit 64 bits. Throws
/// `ValueError` with line and column; a key given twice is an error, and so is nesting deeper than 1000 levels.
SOMA_API Value parse_json(std::string_view text);

/// The value with every dict that has the key "tensor" made a tensor, the last two optional in {"tensor": nested list,
/// "dtype": …, "device": …}, and every {"bytes": base64} bytes: the way `to_json` writes them. Throws `ValueError` for one
/// that is malformed, `DeviceError` for a device that is not here. Loads the tensor engine when there is a tensor.
SOMA_API Value tensors_from_json(const Value& value);

/// Writes a value as JSON. `indent` < 0 writes one line. A float always reads back as the same float; NaN and infinities
/// become null. Bytes become {"bytes": base64}; a tensor {"tensor": nested list, "dtype": …, "device": …}, on `meta`, which
/// holds no elements, with null and its "shape"; an opaque value {"opaque": type id}; a generator {"generator": device}.
/// Throws `ValueError` for a value nested deeper than 1000 levels.
SOMA_API std::string to_json(const Value& value, int indent = -1);

/// One line for a person: what it is, and how large, e.g. `tensor float32[14, 256] on cpu`, `list of 3`, `"text…"`.
SOMA_API std::string summary(const Value& value);

} // namespace soma

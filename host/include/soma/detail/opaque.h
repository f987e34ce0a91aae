// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "soma/abi.h"
#include "soma/export.h"

namespace soma::detail {

/// Where an opaque value's payload says it is; kind SOMA_DEVICE_NONE when its type cannot say, or says nothing. Throws
/// `ValueError` when asking fails.
SOMA_API soma_place opaque_place(const soma_value* value);

} // namespace soma::detail

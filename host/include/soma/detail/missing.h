// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "soma/device.h"
#include "soma/export.h"
#include "soma/placement.h"

namespace soma::detail {

/// What `preflight` says of the nodes that are placed on devices that are not here; nothing when all are. Throws like it.
SOMA_API std::optional<std::string> missing_devices(const Placement& placement);

/// "this machine has 2 `cuda` devices, `cuda:0` to `cuda:1`", when the device is not among them; nothing when it is.
SOMA_API std::optional<std::string> why_missing(Device device);

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace soma::detail {

/// How the backend of a device type is reached; null when this libtorch has none. A read of one atomic: asking
/// initialises nothing, so a backend may still come later.
const c10::impl::DeviceGuardImplInterface* guard_of(c10::DeviceType type) noexcept;

} // namespace soma::detail

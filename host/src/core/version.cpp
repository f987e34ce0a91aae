// SPDX-License-Identifier: Apache-2.0
#include "soma/version.h"

namespace soma {

std::string_view version() noexcept { return SOMA_VERSION; }

} // namespace soma

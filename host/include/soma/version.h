// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "soma/export.h"

namespace soma {

/// The version of the loaded libsomatize, as "major.minor.patch". Any thread; never fails; the text is static.
SOMA_API std::string_view version() noexcept;

} // namespace soma

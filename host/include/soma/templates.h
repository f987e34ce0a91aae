// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "soma/export.h"

namespace soma {

/// The directory of the projects that `somatize new` writes, one a language, found relative to `libsomatize.so`. It is
/// not looked whether it is there. Any thread.
SOMA_API std::filesystem::path template_directory();

} // namespace soma

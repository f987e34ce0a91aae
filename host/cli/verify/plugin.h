// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "verify/reporter.h"

namespace soma::cli::verify {

/// What a child does: loads the plugin, makes every check that the findings lack, and lets the plugin go.
void verify_plugin(Reporter& report);

} // namespace soma::cli::verify

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "verify/findings.h"
#include "verify/reporter.h"

namespace soma::cli::verify {

/// What a child does. It reports each check that `findings` lack, and ends with `Reporter::end`.
using Work = std::function<void(Reporter&)>;

/// Runs `work` in a child process. When the child dies, or takes longer than `limit` over one check, that check has
/// failed and says so; a new child does what is left. Throws `std::system_error` when no child can be made.
void in_children(const Work& work, std::chrono::duration<double> limit, Findings& findings);

} // namespace soma::cli::verify

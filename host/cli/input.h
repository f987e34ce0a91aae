// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "soma/value.h"

namespace soma::cli {

/// What `--in` says: JSON where it parses as such, else text. `@FILE` is what a file holds and `@-` what standard input
/// does, read the same way, or bytes where that is no UTF-8; `@@…` is the text `@…`. {"tensor": …} in JSON becomes a tensor.
/// Throws `UsageError`.
Value read_input(const std::string& argument);

/// JSON where it parses as such, else text; `said` names it in errors. Throws `UsageError`: a malformed tensor, or neither
/// JSON nor UTF-8.
Value value_of(const std::string& text, const std::string& said);

} // namespace soma::cli

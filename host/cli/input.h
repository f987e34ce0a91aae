// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "soma/value.h"

namespace soma::cli {

/// What `--in` says: JSON where it parses as such, else text. `@FILE` is what a file holds and `@-` what standard input
/// does, read the same way, or bytes where that is no UTF-8; `@@…` is the text `@…`. {"tensor": …} in JSON becomes a tensor,
/// {"bytes": base64} bytes. Throws `UsageError`.
Value read_input(const std::string& argument);

} // namespace soma::cli

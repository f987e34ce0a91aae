// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace soma::detail {

/// Text that came from outside, fit for a message: in backticks, on one line, control characters and bytes that are not
/// UTF-8 as `\xNN`, cut when long.
std::string quoted(std::string_view text);

} // namespace soma::detail

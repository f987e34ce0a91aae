// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace soma::detail {

/// How deep JSON may nest, in and out: far deeper than anybody writes, and far from the end of a thread's stack.
inline constexpr std::size_t deepest_json = 1000;

} // namespace soma::detail

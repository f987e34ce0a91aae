// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "soma/wire.h"

namespace soma::detail {

/// `soma::build`, for a wire that came from text: `offsets` gets where each node is written, and `fault`, before it throws,
/// where what is wrong is, if that is known.
Wired build(const Wire& wire, std::vector<std::size_t>& offsets, std::size_t& fault);

} // namespace soma::detail

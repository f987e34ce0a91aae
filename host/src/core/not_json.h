// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "soma/value.h"

namespace soma::detail {

/// What in the value would not come back from JSON text as it is: "a tensor", "a float that is not a number"; nullopt when
/// all of it would.
std::optional<std::string> not_json(const Value& value);

} // namespace soma::detail

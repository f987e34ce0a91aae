// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "soma/export.h"

namespace soma {

/// The candidate a person most likely meant by `name`: the nearest by edits (a swap of neighbours counts one), if it is
/// near enough to be worth offering. Case differences count half. Ties go to the first.
SOMA_API std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// " (did you mean `x`?)", or empty.
SOMA_API std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

} // namespace soma

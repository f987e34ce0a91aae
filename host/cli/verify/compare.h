// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "soma/value.h"

namespace soma::cli::verify {

/// How far two numbers may be apart to count as equal: `absolute` + `relative` times the greater one.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

/// Where two values first differ, and how: "at `[1].score`: 0.5, then 0.75". Nothing when they do not. Where a tensor is
/// does not count, and of tensors on `meta` only sizes and dtype are compared. NaN equals NaN. Of opaque values only the
/// type is compared.
std::optional<std::string> difference(const Value& first, const Value& second, Tolerance tolerance = {});

/// The same value made anew, its tensors excepted.
Value fresh(const Value& value);

} // namespace soma::cli::verify

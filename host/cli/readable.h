// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "soma/value.h"

namespace soma::cli {

/// A result for a person, ending with a newline: text as it is, a list of like dicts as a table, everything else as
/// indented JSON in which long tensors are cut short with "…".
std::string readable(const Value& value);

} // namespace soma::cli

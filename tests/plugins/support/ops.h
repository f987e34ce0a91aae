// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <soma/sdk.h>

#include <string>
#include <vector>

namespace sample {

/// An operation over the tensors it is given.
using Operation = soma::sdk::Value (*)(const std::vector<soma::sdk::Tensor>& arguments);

/// By name; an unknown one throws.
Operation find_operation(const std::string& name);

} // namespace sample

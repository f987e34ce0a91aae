// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "helpers.h"
#include "soma/executor.h"

namespace soma::exec {

/// `Executor::run_many`, with the executor's helpers.
void run_many(Executor& executor, Helpers& helpers, const std::function<std::optional<Value>()>& next,
              const std::function<void(ItemResult)>& done, const ManyOptions& options);

} // namespace soma::exec

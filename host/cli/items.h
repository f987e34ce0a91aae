// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "soma/value.h"

namespace soma::cli {

/// One of many inputs.
struct Item {
    Value value;
    std::string fault; ///< not empty: why it cannot be run
};

/// Gives one item after the other; nullopt at the end. Called by one thread at a time.
using Items = std::function<std::optional<Item>()>;

/// The elements of `--in`, which must be a list. Throws `UsageError`.
Items each_item(const std::string& argument);

/// The lines of what `--in` names, each a text without its line end, "\n" or "\r\n"; one that is not UTF-8 cannot be run. A
/// file and standard input are read as far as items are asked for; waiting for standard input ends when the run is
/// interrupted. Throws `UsageError`.
Items line_items(const std::string& argument);

} // namespace soma::cli

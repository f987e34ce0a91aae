// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file done.h
/// What forward gives back.

#include <soma/sdk/value.h>

namespace soma::sdk {

/// A node's result, and what its own backward will need. A plain Value or Tensor converts to one.
class Done {
public:
    /// The result.
    Done(Value result) noexcept : value{std::move(result)} {}
    /// Keeps something for backward: only for node types that have one.
    Done& save(Value for_backward) & noexcept {
        saved = std::move(for_backward);
        return *this;
    }
    /// Keeps something for backward.
    Done&& save(Value for_backward) && noexcept {
        saved = std::move(for_backward);
        return std::move(*this);
    }

    Value value; ///< the result
    Value saved; ///< for backward, or none
};

} // namespace soma::sdk

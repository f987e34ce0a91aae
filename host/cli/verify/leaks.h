// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "soma/detail/handle_watch.h"

namespace soma::cli::verify {

/// Watches what is left behind when the same thing is done again and again. Something kept is no leak; something more kept
/// every time is.
class Leaks {
public:
    /// It was done once more.
    void note() { left_.push_back(detail::HandleWatch::left()); }
    /// "2 strings, 1 tensor": what the last time left behind, when every time did so; else empty.
    [[nodiscard]] std::string each_time() const;

private:
    detail::HandleWatch watch_;
    std::vector<detail::HandleWatch::Left> left_;
};

} // namespace soma::cli::verify

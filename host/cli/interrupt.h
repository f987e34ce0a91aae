// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

#include "command.h"

namespace soma::cli {

/// While it lives, the first Ctrl-C (SIGINT) or SIGTERM calls `cancel`, once, on a thread of its own, where anything may be
/// called. The second ends the program at once. One at a time.
class Interrupt {
public:
    explicit Interrupt(std::function<void()> cancel);
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    /// Whether a signal came, and how the program is to end then.
    [[nodiscard]] static bool came() noexcept;
    [[nodiscard]] static Exit exit() noexcept;

private:
    std::thread watcher_;
};

} // namespace soma::cli

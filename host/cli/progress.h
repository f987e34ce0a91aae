// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace soma::cli {

/// A line on standard error that says how far a long run is; it appears after half a second and is wiped at the end.
class Progress {
public:
    explicit Progress(std::size_t nodes) : nodes_(nodes) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    /// A node is done. Any thread.
    void done(const std::string& node);

private:
    using Clock = std::chrono::steady_clock;
    std::mutex mutex_;
    std::size_t nodes_;
    std::size_t done_ = 0;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(500);
    bool shown_ = false;
};

} // namespace soma::cli

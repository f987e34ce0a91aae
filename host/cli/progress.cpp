// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>

#include "console.h"
#include "table.h"

namespace soma::cli {

namespace {
constexpr std::string_view wipe = "\r\x1b[K";
}

Progress::~Progress() {
    if (shown_) write_err(wipe);
}

void Progress::done(const std::string& node) {
    const std::lock_guard lock(mutex_);
    ++done_;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    shown_ = true;
    write_err(fmt::format("{}{} of {} nodes done, last `{}`", wipe, done_, nodes_, one_line(node)));
}

} // namespace soma::cli

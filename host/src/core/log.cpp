// SPDX-License-Identifier: Apache-2.0
#include "soma/log.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include <unistd.h>

namespace soma {

namespace {

constexpr std::uint32_t unread = 0xffff'ffffu;

constinit std::atomic<std::uint32_t> least{unread};
constinit std::mutex sink_mutex;
constinit std::mutex environment_mutex; // it is read, and complained of, once

LogSink& sink() {
    // Never destroyed: plugins and static values may still speak when static variables are gone.
    static LogSink& the_sink = *std::make_unique<LogSink>().release();
    return the_sink;
}

std::uint32_t level_of_environment() noexcept {
    const char* text = std::getenv("SOMATIZE_LOG");
    const std::string_view wanted = text == nullptr ? "" : text;
    if (wanted == "debug") return SOMA_LOG_DEBUG;
    if (wanted == "info") return SOMA_LOG_INFO;
    if (wanted == "error") return SOMA_LOG_ERROR;
    if (wanted == "off") return SOMA_LOG_ERROR + 1;
    if (!wanted.empty() && wanted != "warning") {
        constexpr std::string_view told =
            "somatize: warning: SOMATIZE_LOG is none of `debug`, `info`, `warning`, `error` and `off`; it is taken for "
            "`warning`\n";
        static_cast<void>(!::write(STDERR_FILENO, told.data(), told.size()));
    }
    return SOMA_LOG_WARNING;
}

std::string_view name(LogLevel level) noexcept {
    switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
    }
    return "error";
}

void write_to_stderr(const LogLine& line) {
    std::string text = "somatize: ";
    text.append(name(line.level)).append(": ");
    if (!line.origin.empty() && line.origin != "host") text.append(line.origin).append(": ");
    if (!line.node.empty()) text.append("node `").append(line.node).append("`: ");
    text.append(line.text).append("\n");
    // One call, so that lines of several threads and processes stay whole.
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    static_cast<void>(written);
}

} // namespace

void set_log_sink(LogSink wanted) {
    const std::lock_guard lock(sink_mutex);
    sink() = std::move(wanted);
}

LogLevel log_level() noexcept {
    std::uint32_t level = least.load(std::memory_order_relaxed);
    if (level == unread) {
        std::uint32_t expected = unread;
        const std::scoped_lock once(environment_mutex);
        if (least.load(std::memory_order_relaxed) == unread) {
            least.compare_exchange_strong(expected, level_of_environment(), std::memory_order_relaxed);
        }
        level = least.load(std::memory_order_relaxed);
    }
    return static_cast<LogLevel>(level);
}

void set_log_level(LogLevel level) noexcept {
    least.store(static_cast<std::uint32_t>(level), std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view origin, std::string_view node, std::string_view text) noexcept {
    if (level < log_level()) return;
    try {
        const LogLine line{level, origin, node, text};
        const std::lock_guard lock(sink_mutex);
        if (sink()) {
            sink()(line);
        } else {
            write_to_stderr(line);
        }
    } catch (...) {
        // A log that fails has nowhere to say so.
    }
}

} // namespace soma

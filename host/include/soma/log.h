// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "soma/abi.h"
#include "soma/export.h"

namespace soma {

/// How much a line matters. The numbers are the ABI's.
enum class LogLevel : std::uint32_t {
    debug = SOMA_LOG_DEBUG,
    info = SOMA_LOG_INFO,
    warning = SOMA_LOG_WARNING,
    error = SOMA_LOG_ERROR,
};

/// One line of the log; borrowed for the call.
struct LogLine {
    LogLevel level = LogLevel::info; ///< How grave.
    std::string_view origin;         ///< "host", or the name of the plugin that speaks
    std::string_view node;           ///< id of a node; empty when it is about none
    std::string_view text;           ///< Without a line break at its end.
};

/// Gets every line that is at least as grave as `log_level()`. Called from any thread, by one at a time; what it throws is
/// swallowed. It may not log.
using LogSink = std::function<void(const LogLine&)>;

/// Sends the log elsewhere; an empty function restores standard error. Any thread.
SOMA_API void set_log_sink(LogSink sink);
/// The least grave level that is told. At first what the environment's SOMATIZE_LOG says (`debug`, `info`, `warning`,
/// `error`; with `off` nothing is), else `warning`. Any thread.
SOMA_API LogLevel log_level() noexcept;
SOMA_API void set_log_level(LogLevel level) noexcept; ///< Drops what is less grave.

/// Writes a line; see `LogLine`. Never fails. Any thread.
SOMA_API void log(LogLevel level, std::string_view origin, std::string_view node, std::string_view text) noexcept;

} // namespace soma

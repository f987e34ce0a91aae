// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string_view>

#include "command.h"

namespace soma::cli {

/// Standard output cannot take what was written: a full disk, a pipe nobody reads.
class OutputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Call it first. Standard streams that are closed are made into ones that fail, so that no file opened later takes their
/// place; writing to a pipe that nobody reads becomes an error instead of a signal.
void prepare_console() noexcept;

/// Writes to standard output now. Throws `OutputError`.
void write_out(std::string_view text);
/// Writes to standard error, as far as it goes.
void write_err(std::string_view text) noexcept;

/// "somatize: error: …" on standard error; what would drive a terminal is escaped.
void report_error(std::string_view message);
/// "somatize: warning: …" on standard error, as one line.
void report_warning(std::string_view message);

/// Ends the program here and now, for a command that has said all it has to say and made no node. Nothing is unloaded and
/// nothing freed: the system does that anyway, and faster.
[[noreturn]] void leave(Exit exit) noexcept;

/// From here on the program is not for plugins to end: `exit` called by one is told as an error and ends it with
/// `Exit::run_failed`.
void forbid_exit();
/// The program has done all it was to do: `exit` is its own again.
void allow_exit() noexcept;

/// Whether a person watches standard error.
[[nodiscard]] bool stderr_is_terminal() noexcept;

} // namespace soma::cli

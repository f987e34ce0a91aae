// SPDX-License-Identifier: Apache-2.0
#include "console.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace soma::cli {

namespace {

/// 0, or the number of the error.
int write_all(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        const auto written = write(file, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

} // namespace

void prepare_console() noexcept {
    // Opening gives the lowest number that is free: the closed one, as the ones below it are taken by then.
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(file, F_GETFD) == -1 && errno == EBADF) {
            (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
    (void)std::signal(SIGPIPE, SIG_IGN);
}

void write_out(std::string_view text) {
    if (const int error = write_all(STDOUT_FILENO, text); error != 0) {
        throw OutputError(fmt::format("cannot write the output: {}", std::strerror(error)));
    }
}

void write_err(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text); }

void report_error(std::string_view message) { write_err(fmt::format("somatize: error: {}\n", message)); }

void report_warning(std::string_view message) {
    std::string line = fmt::format("somatize: warning: {}", message);
    for (char& character : line) {
        if (character == '\n') character = ' ';
    }
    write_err(line + "\n");
}

void leave(Exit exit) noexcept {
    // What a plugin may have printed by itself.
    (void)std::fflush(nullptr);
    std::_Exit(static_cast<int>(exit));
}

bool stderr_is_terminal() noexcept { return isatty(STDERR_FILENO) == 1; }

} // namespace soma::cli

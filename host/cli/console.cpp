// SPDX-License-Identifier: Apache-2.0
#include "console.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "table.h"

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

// What runs at the end of the program can be told nothing but through globals.
std::atomic<bool> exit_is_forbidden{false};

extern "C" void soma_cli_at_exit() {
    if (!exit_is_forbidden) return;
    write_err("somatize: error: a plugin ended the program with `exit`, so nothing comes of what was under way\n");
    leave(Exit::run_failed);
}

} // namespace

void forbid_exit() {
    if (exit_is_forbidden.exchange(true)) return;
    (void)std::atexit(soma_cli_at_exit);
    (void)std::at_quick_exit(soma_cli_at_exit);
}

void allow_exit() noexcept { exit_is_forbidden = false; }

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

void report_error(std::string_view message) { write_err(fmt::format("somatize: error: {}\n", printable(message))); }

void report_warning(std::string_view message) {
    std::string line = fmt::format("somatize: warning: {}", message);
    std::replace(line.begin(), line.end(), '\n', ' ');
    write_err(printable(line) + "\n");
}

void leave(Exit exit) noexcept {
    // What a plugin may have printed by itself.
    (void)std::fflush(nullptr);
    std::_Exit(static_cast<int>(exit));
}

bool stderr_is_terminal() noexcept { return isatty(STDERR_FILENO) == 1; }

} // namespace soma::cli

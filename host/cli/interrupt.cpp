// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace soma::cli {

namespace {

constexpr std::array watched{SIGINT, SIGTERM};

// What a signal handler may touch cannot be reached but through globals.
volatile std::sig_atomic_t signal_number = 0;
volatile std::sig_atomic_t wake = -1;
std::array<struct sigaction, watched.size()> before{};

void tell_watcher() noexcept {
    const std::uint64_t one = 1;
    (void)!write(static_cast<int>(wake), &one, sizeof one);
}

extern "C" void soma_cli_on_signal(int number) {
    const int kept = errno;
    signal_number = number;
    tell_watcher();
    constexpr std::string_view said = "\nsomatize: cancelling; once more ends it at once\n";
    if (number == SIGINT) (void)!write(STDERR_FILENO, said.data(), said.size());
    errno = kept;
}

} // namespace

Interrupt::Interrupt(std::function<void()> cancel) {
    const int event = eventfd(0, EFD_CLOEXEC);
    if (event < 0) throw std::system_error(errno, std::generic_category(), "cannot watch for Ctrl-C");
    wake = event;
    signal_number = 0;
    watcher_ = std::thread([cancel = std::move(cancel), event] {
        std::uint64_t count = 0;
        while (read(event, &count, sizeof count) < 0 && errno == EINTR) {
        }
        // The destructor wakes it as well.
        if (came()) cancel();
    });
    for (std::size_t i = 0; i < watched.size(); ++i) {
        struct sigaction action {};
        action.sa_handler = soma_cli_on_signal;
        // Back to the default after the first: the second one kills.
        action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
        sigaction(watched[i], nullptr, &before[i]);
        // A program started with the signal ignored (nohup, a script's background job) keeps ignoring it.
        if (before[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, nullptr);
    }
}

Interrupt::~Interrupt() {
    for (std::size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], &before[i], nullptr);
    tell_watcher();
    watcher_.join();
    close(static_cast<int>(wake));
    wake = -1;
}

bool Interrupt::came() noexcept { return signal_number != 0; }

Exit Interrupt::exit() noexcept { return signal_number == SIGTERM ? Exit::terminated : Exit::interrupted; }

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include "verify/child.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace soma::cli::verify {

namespace {

using Clock = std::chrono::steady_clock;

// Loading the tensor library on a busy machine takes seconds, and is nobody's fault.
constexpr std::chrono::seconds to_start{180};

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }
    void close() noexcept {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    int number_;
};

[[noreturn]] void be_child(const Work& work, int pipe, Findings& findings) {
    // Nothing outlives the parent, no file of the plugin's crash is left, and what it prints is not our output.
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    Reporter report(pipe, findings);
    try {
        work(report);
    } catch (const std::exception& error) {
        report.done(Outcome::fail(error.what()));
    }
    report.end();
    (void)std::fflush(nullptr); // what the plugin printed
    std::_Exit(0);
}

const char* name_of(int signal) noexcept {
    switch (signal) {
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGKILL: return "SIGKILL";
    case SIGPIPE: return "SIGPIPE";
    case SIGSEGV: return "SIGSEGV";
    case SIGSYS: return "SIGSYS";
    case SIGTERM: return "SIGTERM";
    case SIGTRAP: return "SIGTRAP";
    default: return "another signal";
    }
}

/// How a child ended that had more to say.
std::string death(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return fmt::format("the process was ended by signal {} ({})", signal, name_of(signal));
    }
    return fmt::format("the process was ended by exit({})", WEXITSTATUS(status));
}

class Child {
public:
    Child(const Work& work, Findings& findings) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
        reading_ = std::make_unique<Descriptor>(ends[0]);
        Descriptor writing(ends[1]);
        id_ = fork();
        if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (id_ == 0) {
            reading_->close();
            be_child(work, writing.number(), findings);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        (void)wait(0);
    }

    /// Reads what it says for up to `patience`.
    void listen(Listener& listener, std::chrono::milliseconds patience) {
        pollfd wanted{reading_->number(), POLLIN, 0};
        if (poll(&wanted, 1, static_cast<int>(patience.count())) > 0 && take(listener)) return;
        // At its end, or closed by the plugin: only the child's own end is left to wait for.
        if (wanted.revents != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    /// Its status, once it has ended; all it said has been taken then.
    std::optional<int> ended(Listener& listener) {
        const std::optional<int> status = wait(WNOHANG);
        // A process that the plugin left behind may still hold the pipe: what is in it now is all.
        if (status) {
            (void)fcntl(reading_->number(), F_SETFL, O_NONBLOCK);
            while (take(listener)) {
            }
        }
        return status;
    }

private:
    bool take(Listener& listener) {
        char buffer[65536];
        const auto got = read(reading_->number(), buffer, sizeof buffer);
        if (got <= 0) return false;
        listener.take({buffer, static_cast<std::size_t>(got)});
        return true;
    }

    std::optional<int> wait(int flags) {
        int status = 0;
        pid_t done = 0;
        do {
            done = waitpid(id_, &status, flags);
        } while (done < 0 && errno == EINTR);
        if (done == 0) return std::nullopt;
        id_ = 0;
        return status;
    }

    pid_t id_ = 0;
    std::unique_ptr<Descriptor> reading_;
};

/// One child, to its end. Why it ended before its time; empty when it did not.
std::string run_child(const Work& work, std::chrono::duration<double> limit, Findings& findings, Listener& listener) {
    Child child(work, findings);
    auto deadline = Clock::now() + to_start;
    unsigned begun = 0;
    for (;;) {
        child.listen(listener, std::chrono::milliseconds(20));
        if (const std::optional<int> status = child.ended(listener)) {
            return listener.ended() ? std::string() : death(*status);
        }
        if (listener.begun() != begun) {
            begun = listener.begun();
            deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
        }
        if (Clock::now() > deadline) {
            return fmt::format("it took longer than {:g} s (`--timeout` allows more)",
                               begun == 0 ? std::chrono::duration<double>(to_start).count() : limit.count());
        }
    }
}

} // namespace

void in_children(const Work& work, std::chrono::duration<double> limit, Findings& findings) {
    for (;;) {
        Listener listener(findings);
        const std::string why = run_child(work, limit, findings, listener);
        if (why.empty()) return;
        const std::string doing = listener.step().empty() ? "" : " while " + listener.step();
        if (!listener.checking()) {
            findings.set({"", "loads", Outcome::fail(why + doing)});
            return;
        }
        findings.set({listener.node(), listener.check(), Outcome::fail(why + doing)});
        // A plugin that cannot even be loaded leaves nothing to go on with.
        if (listener.node().empty()) return;
    }
}

} // namespace soma::cli::verify

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/paths.h"

namespace soma::test {

/// What a process left behind.
struct Finished {
    int exit = -1;          ///< exit code; -1 when a signal ended it
    int signal = 0;         ///< the signal that ended it
    bool timed_out = false; ///< it ran past its limit and was killed
    std::string out;
    std::string err;
    std::chrono::duration<double> wall{};
};

/// How the program is started. Unless said, it finds no plugins but the shipped ones and the tests' own.
struct Launch {
    std::vector<std::string> args;
    std::string input;
    bool input_open = false; ///< after `input` standard input is neither at its end nor says anything more
    std::map<std::string, std::string> environment; ///< beside what the tests have
    std::filesystem::path program;                  ///< empty: `somatize`
    std::filesystem::path folder;                   ///< to run in; empty: where the test runs
    std::string out_file;                           ///< standard output goes there instead, such as "/dev/full"
    bool out_closed = false;
    bool out_unread = false;   ///< standard output is a pipe without a reader
    bool err_terminal = false; ///< standard error is a terminal
    std::chrono::seconds limit{120};
};

/// A process under way. Killed, if it still runs, at the end of its scope.
class Process {
public:
    explicit Process(const Launch& launch);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void send(int signal) const;
    [[nodiscard]] int id() const noexcept { return id_; }
    /// Waits for its end, within the limit.
    Finished wait();

private:
    TemporaryFolder folder_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::seconds limit_;
    bool out_to_file_;
    int terminal_ = -1;
    int input_ = -1;
    int id_ = -1;
};

/// Runs it to its end.
Finished run(const Launch& launch);
/// `somatize ARGS…`, with the tests' plugin `probe` on the search path.
Finished somatize(std::vector<std::string> args, std::string input = {});

/// The folder of the tests' plugin `probe`.
std::filesystem::path probe_plugins();
/// Waits until a file is there; false after ten seconds.
bool appears(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view text);
std::string read_file(const std::filesystem::path& file);

} // namespace soma::test

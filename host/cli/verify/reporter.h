// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verify/findings.h"

namespace soma::cli::verify {

/// How the child tells its parent what it does, before it does it: a line of JSON each through a pipe. What the child dies
/// of is then known to belong to the last line.
class Reporter {
public:
    /// `file` is the pipe's end to write to.
    Reporter(int file, Findings& findings) : file_(file), findings_(findings) {}
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

    /// A check begins; the time it may take starts.
    void begin(std::string_view node, std::string_view check);
    /// What is tried next: "running it on `cuda:0`".
    void step(std::string_view doing);
    /// The check that began is done.
    void done(const Outcome& outcome);
    void config(std::string_view node, const Value& config);
    void machine();
    void plugin();
    void refused(std::string_view reason);
    /// There is nothing more to say.
    void end();

    [[nodiscard]] Findings& findings() noexcept { return findings_; }

private:
    void send(std::vector<std::pair<std::string, Value>> entries);

    int file_;
    Findings& findings_;
    std::string node_;
    std::string check_;
};

/// What the parent makes of the lines.
class Listener {
public:
    explicit Listener(Findings& findings) : findings_(findings) {}

    /// Takes what was read, which may end amid a line.
    void take(std::string_view text);

    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Whether a check is under way, and which.
    [[nodiscard]] bool checking() const noexcept { return checking_; }
    [[nodiscard]] const std::string& node() const noexcept { return node_; }
    [[nodiscard]] const std::string& check() const noexcept { return check_; }
    [[nodiscard]] const std::string& step() const noexcept { return step_; }
    /// Grows with every check that begins.
    [[nodiscard]] unsigned begun() const noexcept { return begun_; }

private:
    void line(std::string_view text);

    Findings& findings_;
    std::string rest_;
    std::string node_;
    std::string check_;
    std::string step_;
    bool checking_ = false;
    bool ended_ = false;
    unsigned begun_ = 0;
};

} // namespace soma::cli::verify

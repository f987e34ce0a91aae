// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace soma::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

/// The variables of the child: ours without what would make a test depend on who runs it.
std::vector<std::string> variables(const Launch& launch, const fs::path& nowhere) {
    std::map<std::string, std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
    }
    all["XDG_DATA_HOME"] = nowhere.string();
    all["SOMATIZE_PLUGIN_PATH"] = probe_plugins().string();
    for (const auto& [name, value] : launch.environment) all[name] = value;
    std::vector<std::string> out;
    for (const auto& [name, value] : all) out.push_back(name + "=" + value);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

void check(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

class Actions {
public:
    Actions() { check(posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init"); }
    ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    void open(int number, const fs::path& file, int flags) {
        check(posix_spawn_file_actions_addopen(&actions_, number, file.c_str(), flags, 0600), "addopen");
    }
    void duplicate(int from, int to) { check(posix_spawn_file_actions_adddup2(&actions_, from, to), "adddup2"); }
    void close(int number) { check(posix_spawn_file_actions_addclose(&actions_, number), "addclose"); }
    void folder(const fs::path& path) {
        check(posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()), "addchdir");
    }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

} // namespace

Process::Process(const Launch& launch)
    : limit_(launch.limit), out_to_file_(launch.out_file.empty() && !launch.out_closed && !launch.out_unread) {
    const fs::path file = launch.program.empty() ? program() : launch.program;
    Actions actions;
    int input[2] = {-1, -1};
    if (launch.input_open) {
        if (pipe2(input, O_CLOEXEC) != 0) check(errno, "pipe2");
        actions.duplicate(input[0], STDIN_FILENO);
        input_ = input[1];
        if (write(input_, launch.input.data(), launch.input.size()) < 0) check(errno, "write");
    } else {
        write_file(folder_.path() / "in", launch.input);
        actions.open(STDIN_FILENO, folder_.path() / "in", O_RDONLY);
    }
    int unread[2] = {-1, -1};
    if (launch.out_unread) {
        if (pipe2(unread, O_CLOEXEC) != 0) check(errno, "pipe2");
        actions.duplicate(unread[1], STDOUT_FILENO);
        ::close(unread[0]);
    } else if (launch.out_closed) {
        actions.close(STDOUT_FILENO);
    } else {
        actions.open(STDOUT_FILENO, out_to_file_ ? folder_.path() / "out" : fs::path(launch.out_file),
                     O_WRONLY | O_CREAT | O_TRUNC);
    }
    if (launch.err_terminal) {
        terminal_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0) check(errno, "posix_openpt");
        actions.open(STDERR_FILENO, ptsname(terminal_), O_WRONLY | O_NOCTTY);
    } else {
        actions.open(STDERR_FILENO, folder_.path() / "err", O_WRONLY | O_CREAT | O_TRUNC);
    }
    if (!launch.folder.empty()) actions.folder(launch.folder);

    std::vector<std::string> args{file.string()};
    args.insert(args.end(), launch.args.begin(), launch.args.end());
    std::vector<std::string> environment = variables(launch, folder_.path() / "nowhere");
    pid_t id = -1;
    const int error =
        posix_spawnp(&id, file.c_str(), actions.get(), nullptr, pointers(args).data(), pointers(environment).data());
    if (unread[1] >= 0) ::close(unread[1]);
    if (input[0] >= 0) ::close(input[0]);
    check(error, "posix_spawnp");
    id_ = id;
}

Process::~Process() {
    if (id_ > 0) {
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
    }
    if (terminal_ >= 0) ::close(terminal_);
    if (input_ >= 0) ::close(input_);
}

void Process::send(int signal) const {
    if (kill(id_, signal) != 0) check(errno, "kill");
}

Finished Process::wait() {
    Finished out;
    int status = 0;
    for (auto nap = 200us;; nap = std::min(nap * 2, std::chrono::microseconds(5000))) {
        const pid_t ended = waitpid(id_, &status, WNOHANG);
        if (ended < 0) check(errno, "waitpid");
        if (ended == id_) break;
        if (std::chrono::steady_clock::now() - begin_ > limit_) {
            kill(id_, SIGKILL);
            waitpid(id_, &status, 0);
            out.timed_out = true;
            break;
        }
        std::this_thread::sleep_for(nap);
    }
    id_ = -1;
    out.wall = std::chrono::steady_clock::now() - begin_;
    if (WIFEXITED(status)) out.exit = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
    if (out_to_file_) out.out = read_file(folder_.path() / "out");
    if (terminal_ < 0) {
        out.err = read_file(folder_.path() / "err");
        return out;
    }
    // The child is gone: what it wrote is in the terminal's buffer, and then comes an error.
    char buffer[4096];
    for (ssize_t got = 0; (got = read(terminal_, buffer, sizeof buffer)) > 0;) {
        out.err.append(buffer, static_cast<std::size_t>(got));
    }
    return out;
}

Finished run(const Launch& launch) { return Process(launch).wait(); }

Finished somatize(std::vector<std::string> args, std::string input) {
    Launch launch;
    launch.args = std::move(args);
    launch.input = std::move(input);
    return run(launch);
}

fs::path probe_plugins() { return test_plugins("cliprobe"); }

bool appears(const fs::path& file) {
    for (int i = 0; i < 5000; ++i) {
        if (fs::exists(file)) return true;
        std::this_thread::sleep_for(2ms);
    }
    return false;
}

void write_file(const fs::path& file, std::string_view text) {
    std::ofstream out(file, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) throw std::runtime_error("cannot write " + file.string());
}

std::string read_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace soma::test

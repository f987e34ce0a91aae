// SPDX-License-Identifier: Apache-2.0
// B8: what starting the program costs.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rows.h"

extern char** environ;

namespace soma::bench {
namespace {

const std::string graph =
    R"(text.tokenize >> (nn.encoder.on("cuda:0") | nn.bag.named("other").on("cuda:1")) >> flow.join)";

/// Runs a program to its end, its output thrown away; standard error goes to a file if one is named.
void start(const std::vector<std::string>& command, const char* errors, char** environment) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (errors != nullptr) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    pid_t id = 0;
    const int failed = posix_spawn(&id, arguments[0], &actions, nullptr, arguments.data(), environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start `" + command[0] + "`: " + std::strerror(failed));
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) throw std::runtime_error("`" + command[0] + "` failed");
}

/// The program, its library and the shipped plugins, copied as an installation copies them: pages of a file that a linker wrote
/// piece by piece are mapped one by one, which costs a start a tenth that no user pays.
std::string install() {
    namespace fs = std::filesystem;
    const fs::path build = fs::path(SOMA_PROGRAM).parent_path().parent_path();
    const fs::path there = build / "bench" / "installed";
    fs::remove_all(there);
    fs::create_directories(there / "bin");
    const fs::path program = there / "bin" / "somatize";
    fs::copy_file(SOMA_PROGRAM, program);
    const fs::path libraries = fs::path(SOMA_SHIPPED_PLUGINS).parent_path().parent_path();
    const fs::path lib = there / fs::relative(libraries, build);
    fs::create_directories(lib / "somatize");
    for (const fs::directory_entry& entry : fs::directory_iterator(libraries)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind("libsomatize", 0) == 0) {
            fs::copy(entry.path(), lib / name, fs::copy_options::copy_symlinks);
        }
    }
    fs::copy(SOMA_SHIPPED_PLUGINS, lib / "somatize" / "plugins");
    return program.string();
}

Side starting(std::string name, std::vector<std::string> command) {
    return {std::move(name), [command = std::move(command)](std::size_t repeats) {
                for (std::size_t i = 0; i < repeats; ++i) start(command, nullptr, environ);
            }};
}

/// Whether the program maps libtorch, by the dynamic linker's own account.
bool maps_libtorch(const std::vector<std::string>& command, const std::string& file) {
    std::vector<std::string> set{"LD_DEBUG=libs"};
    std::vector<char*> environment;
    for (char** at = environ; *at != nullptr; ++at) environment.push_back(*at);
    environment.push_back(set.front().data());
    environment.push_back(nullptr);
    start(command, file.c_str(), environment.data());
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    static_cast<void>(std::remove(file.c_str()));
    if (text.find("libsomatize.so") == std::string::npos) throw std::runtime_error("the dynamic linker told nothing");
    return text.find("libtorch") != std::string::npos || text.find("libc10") != std::string::npos;
}

} // namespace

void start_row(Recorder& recorder) {
    if (!recorder.wants("B8")) return;
    const std::vector<std::string> devices{install(), "devices", graph};
    Point point{"somatize devices", 1, {starting("soma", devices), starting("/bin/true", {"/bin/true"})}};
    // One start each in turn: neither finds its own pages in the caches, which the smaller would gain more by.
    recorder.measure("B8", {point}, 301, std::chrono::nanoseconds(1));
    recorder.put("B8", "libtorch mapped", 1, "soma", 0,
                 maps_libtorch(devices, "/tmp/soma-bench-libs-" + std::to_string(getpid())));
}

} // namespace soma::bench

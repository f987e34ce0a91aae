// SPDX-License-Identifier: Apache-2.0
#include "hostile/files.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include <sys/wait.h>
#include <unistd.h>

#include "soma/catalog.h"
#include "soma/error.h"
#include "support/catch.h"

namespace soma::test {

std::filesystem::path plugin_file(std::string_view name) {
    return test_plugins(name) / (std::string(name) + ".soma.so");
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    REQUIRE(file.good());
}

std::string refusal(const std::filesystem::path& file) {
    try {
        Catalog catalog;
        catalog.load_file(file);
        return {};
    } catch (const PluginError& error) {
        const std::string_view message = error.what();
        const std::string prefix = "plugin `" + file.string() + "` was refused: ";
        if (!message.starts_with(prefix)) return "(the path is not named) " + std::string(message);
        return std::string(message.substr(prefix.size()));
    }
}

std::string in_child(const std::function<std::string()>& work) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::string result;
        try {
            result = work();
        } catch (const std::exception& error) {
            result = std::string("it threw: ") + error.what();
        }
        const auto written = write(ends[1], result.data(), result.size());
        _exit(written == static_cast<ssize_t>(result.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string result;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
        result.append(buffer, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) return std::string("it was ended by ") + strsignal(WTERMSIG(status)) + " after " + result;
    return result;
}

} // namespace soma::test

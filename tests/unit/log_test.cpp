// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "soma/log.h"
#include "support/catch.h"

using namespace soma;

TEST_CASE("the log tells what is grave enough and outlives a sink that throws") {
    std::vector<std::string> lines;
    set_log_sink([&](const LogLine& line) { lines.emplace_back(line.text); });
    set_log_level(LogLevel::info);
    log(LogLevel::debug, "host", {}, "left out");
    log(LogLevel::info, "host", "n", "told");
    set_log_level(LogLevel::error);
    log(LogLevel::warning, "host", {}, "left out");
    log(LogLevel::error, "host", {}, "told too");
    CHECK(lines == std::vector<std::string>{"told", "told too"});
    set_log_sink([](const LogLine&) { throw std::runtime_error("full"); });
    log(LogLevel::error, "host", {}, "lost");
    set_log_sink({});
    set_log_level(LogLevel::warning);
}

TEST_CASE("lines of many threads reach a sink one at a time") {
    std::size_t count = 0;
    set_log_sink([&](const LogLine&) { ++count; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) log(LogLevel::error, "host", {}, "line");
        });
    }
    for (auto& thread : threads) thread.join();
    set_log_sink({});
    CHECK(count == 4000);
}

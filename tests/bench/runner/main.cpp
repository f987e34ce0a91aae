// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "rows.h"
#include "soma/version.h"

#if SOMA_BENCH_TBB
#include <oneapi/tbb/version.h>
#endif
#if SOMA_BENCH_TASKFLOW
#include <taskflow/taskflow.hpp>
#endif

namespace {

using soma::bench::Recorder;

constexpr const char* usage = "usage: soma_bench [--tiny] [--pairs N] [--rows B1,B2,...] SAMPLES.jsonl\n"
                              "Times Somatize and its peers side by side and keeps every sample. The table is made by\n"
                              "soma_bench_table. --tiny only shows that everything runs.\n";

/// The value after `key` in a file of `key: value` or `KEY="value"` lines.
std::string look_up(const char* file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const std::size_t begin = line.find_first_not_of(" \t:=\"", key.size());
        const std::size_t end = line.find_last_not_of("\" \t");
        if (begin != std::string::npos) return line.substr(begin, end - begin + 1);
    }
    return "unknown";
}

void say_where(Recorder& recorder) {
    char day[32] = "";
    const std::time_t now = std::time(nullptr);
    std::strftime(day, sizeof day, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
    recorder.fact("date", day);
    utsname kernel{};
    if (uname(&kernel) == 0) recorder.fact("kernel", std::string(kernel.sysname) + " " + kernel.release);
    recorder.fact("system", look_up("/etc/os-release", "PRETTY_NAME"));
    recorder.fact("processor", look_up("/proc/cpuinfo", "model name"));
    recorder.fact("cores", std::to_string(std::thread::hardware_concurrency()));
#if defined(__clang__)
    recorder.fact("compiler", "clang " __clang_version__);
#else
    recorder.fact("compiler", "g++ " __VERSION__);
#endif
    recorder.fact("somatize", soma::version());
    recorder.fact("tensor library", soma::bench::tensor_library());
#if SOMA_BENCH_TBB
    recorder.fact("oneTBB", TBB_VERSION_STRING);
#else
    recorder.fact("oneTBB", "not there");
#endif
#if SOMA_BENCH_TASKFLOW
    recorder.fact("Taskflow", tf::version());
#else
    recorder.fact("Taskflow", "not there");
#endif
    recorder.fact("pairs", std::to_string(recorder.effort().pairs));
}

std::set<std::string, std::less<>> split(const std::string& list) {
    std::set<std::string, std::less<>> rows;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (end > begin) rows.insert(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return rows;
}

int run(const std::vector<std::string>& arguments) {
    soma::bench::Effort effort;
    std::string file;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (word == "--tiny") {
            effort.tiny = true;
            effort.pairs = 3;
            effort.sample = std::chrono::microseconds(5);
        } else if (word == "--pairs" && i + 1 < arguments.size()) {
            effort.pairs = std::strtoull(arguments[++i].c_str(), nullptr, 10);
        } else if (word == "--rows" && i + 1 < arguments.size()) {
            effort.rows = split(arguments[++i]);
        } else if (file.empty() && word.rfind('-', 0) != 0) {
            file = word;
        } else {
            file.clear();
            break;
        }
    }
    if (file.empty() || effort.pairs == 0) {
        std::fputs(usage, stderr);
        return 2;
    }
    // Memory that was freed stays with the process. Otherwise the order in which a side frees its tensors decides whether the
    // system takes their pages back, and gives them anew at every run, page by page.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    Recorder recorder(file, effort);
    say_where(recorder);
    const auto row = [](const char* what, void (*measure)(Recorder&), Recorder& into) {
        std::fprintf(stderr, "%s\n", what);
        measure(into);
    };
    row("B8: starting", soma::bench::start_row, recorder);
    row("B1: a chain", soma::bench::chain_row, recorder);
    row("B2, B2b, B5: waves", soma::bench::wave_rows, recorder);
    row("B3, B4, B7, B9: tensors", soma::bench::tensor_rows, recorder);
    row("B10, B11: items and threads", soma::bench::item_rows, recorder);
    row("B6: graphs", soma::bench::graph_row, recorder);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soma_bench: %s\n", error.what());
        return 1;
    }
}

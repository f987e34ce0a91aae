// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lines.h"
#include "samples.h"

namespace {

using soma::bench::Line;
using soma::bench::Samples;

constexpr const char* usage =
    "usage: soma_bench_table SAMPLES.jsonl...\n"
    "       soma_bench_table --into PAGE.md SAMPLES.jsonl...\n"
    "Prints the table of each run; or writes, between the marks in a page, one table for the\n"
    "runs of each system, with every run's figure.\n";

std::string control_text(const Line& line) {
    return line.control ? fmt::format("{:+.1f} %", 100 * *line.control) : std::string("exact");
}

std::string verdict(const Line& line) {
    if (!line.not_run.empty()) return "not run";
    if (!line.counts()) return "does not count";
    return line.met ? "pass" : "MISS";
}

/// Columns a text takes: every code point of the ones used here takes one.
std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void print(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    for (const auto& row : rows) {
        std::string text;
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text += std::string(widths[i] - columns(row[i]) + 2, ' ');
        }
        fmt::print("{}\n", text);
    }
}

void print(const Samples& samples) {
    for (const char* name : {"date", "system", "kernel", "processor", "cores", "compiler", "tensor library", "oneTBB",
                             "Taskflow", "pairs"}) {
        fmt::print("{:<15} {}\n", name, samples.fact(name));
    }
    fmt::print("\n");
    std::vector<std::vector<std::string>> rows{
        {"row", "what", "Somatize", "beside it", "floor", "figure", "target", "A/A", "verdict"}};
    std::size_t passed = 0;
    std::size_t missed = 0;
    std::size_t other = 0;
    for (const Line& line : soma::bench::lines(samples)) {
        if (!line.not_run.empty()) {
            rows.push_back({line.row, line.what, "", "", "", "", line.target, "", "not run: " + line.not_run});
            ++other;
            continue;
        }
        rows.push_back({line.row, line.what, line.ours, line.peer, line.floor, line.figure_text, line.target,
                        control_text(line), verdict(line)});
        ++(!line.counts() ? other : line.met ? passed : missed);
    }
    print(rows);
    fmt::print("\n{} pass, {} miss, {} not run or not counted\n", passed, missed, other);
}

/// Runs that can stand in one table.
struct Group {
    std::string title;
    std::vector<Samples> runs;
};

std::string cell(const std::vector<std::vector<Line>>& runs, std::size_t at, std::string (*text)(const Line&)) {
    std::string all;
    for (const auto& run : runs) {
        if (!run[at].not_run.empty()) continue;
        all += (all.empty() ? "" : " · ") + text(run[at]);
    }
    return all;
}

std::string verdict(const std::vector<std::vector<Line>>& runs, std::size_t at) {
    std::size_t counted = 0;
    std::size_t met = 0;
    std::string why;
    bool measured = false;
    for (const auto& run : runs) {
        const Line& line = run[at];
        if (!line.not_run.empty()) why = line.not_run;
        measured = measured || line.not_run.empty();
        if (!line.counts()) continue;
        ++counted;
        met += line.met ? 1 : 0;
    }
    if (!measured) return "not run: " + why;
    if (counted == 0) return "does not count";
    const std::string of = fmt::format("{} of {}", met, counted);
    return (met == counted ? "pass, " : "**miss**, ") + of;
}

std::string page_of(const Group& group) {
    std::string out = "### " + group.title + "\n\n";
    for (const char* name :
         {"processor", "cores", "kernel", "compiler", "tensor library", "oneTBB", "Taskflow", "pairs"}) {
        out += fmt::format("{}{}: {}", std::string_view(name) == "processor" ? "" : "; ", name,
                           group.runs.front().fact(name));
    }
    out += ". Runs: ";
    std::vector<std::vector<Line>> runs;
    for (const Samples& run : group.runs) {
        out += (runs.empty() ? "" : ", ") + run.fact("date");
        runs.push_back(soma::bench::lines(run));
    }
    out += ".\n\n| row | what | Somatize | beside it | floor | figure | target | A/A | verdict |\n"
           "|---|---|---|---|---|---|---|---|---|\n";
    std::string left_out;
    for (std::size_t at = 0; at < runs.front().size(); ++at) {
        // What was measured is shown of the first run that has it; every run's figure follows.
        const auto shown =
            std::find_if(runs.begin(), runs.end(), [at](const auto& run) { return run[at].not_run.empty(); });
        const Line& line = shown == runs.end() ? runs.front()[at] : (*shown)[at];
        if (shown == runs.end() && line.not_run == "not measured in this run") {
            if (left_out.find(line.row + " ") == std::string::npos) left_out += line.row + " ";
            continue;
        }
        out +=
            fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", line.row, line.what, line.ours, line.peer,
                        line.floor, cell(runs, at, [](const Line& l) { return l.figure_text; }), line.target,
                        cell(runs, at, [](const Line& l) { return control_text(l); }), verdict(runs, at));
    }
    if (!left_out.empty()) out += "\nNot measured here, in whole or in part: " + left_out + "\n";
    return out + "\n";
}

void write_into(const std::string& page, const std::vector<Samples>& runs) {
    std::vector<Group> groups;
    for (const Samples& run : runs) {
        const std::string title = fmt::format("{}, {}", run.fact("system"), run.fact("tensor library"));
        const auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.title == title; });
        if (at == groups.end()) {
            groups.push_back({title, {run}});
        } else {
            at->runs.push_back(run);
        }
    }
    std::string made;
    for (const Group& group : groups) made += page_of(group);

    std::ifstream in(page);
    if (!in) throw std::runtime_error("cannot read `" + page + "`");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    constexpr std::string_view begin_mark = "<!-- tables: written by soma_bench_table -->\n";
    constexpr std::string_view end_mark = "<!-- end of tables -->";
    const std::size_t begin = text.find(begin_mark);
    const std::size_t end = text.find(end_mark);
    if (begin == std::string::npos || end == std::string::npos || end < begin) {
        throw std::runtime_error("`" + page + "` lacks the marks `" +
                                 std::string(begin_mark.substr(0, begin_mark.size() - 1)) + "` and `" +
                                 std::string(end_mark) + "`");
    }
    text.replace(begin + begin_mark.size(), end - begin - begin_mark.size(), "\n" + made);
    std::ofstream out(page);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write `" + page + "`");
}

int run(std::vector<std::string> arguments) {
    std::string page;
    if (arguments.size() >= 2 && arguments[0] == "--into") {
        page = arguments[1];
        arguments.erase(arguments.begin(), arguments.begin() + 2);
    }
    if (arguments.empty() || arguments[0].rfind('-', 0) == 0) {
        std::fputs(usage, stderr);
        return 2;
    }
    std::vector<Samples> runs;
    for (const std::string& file : arguments) runs.push_back(Samples::read(file));
    if (!page.empty()) {
        write_into(page, runs);
        return 0;
    }
    for (const Samples& samples : runs) print(samples);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soma_bench_table: %s\n", error.what());
        return 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "lines.h"

#include <cmath>
#include <deque>
#include <iterator>

#include <fmt/format.h>

namespace soma::bench {
namespace {

std::string time_text(double ns) {
    const double size = std::abs(ns);
    if (size >= 1e9) return fmt::format("{:.3g} s", ns / 1e9);
    if (size >= 1e6) return fmt::format("{:.3g} ms", ns / 1e6);
    if (size >= 1e4) return fmt::format("{:.3g} µs", ns / 1e3);
    return fmt::format("{:.3g} ns", ns);
}

/// How a row's peers are called, and what is asked for against each.
struct Peer {
    const char* name;
    double most;
};

class Lines {
public:
    explicit Lines(const Samples& samples) : samples_(samples) {}

    std::vector<Line> all() {
        slopes("B1", "a node of a chain", {"chain"}, {{"oneTBB", 1}, {"Taskflow", 1}});
        slopes("B2", "a wave of ",
               {"2 branches in a graph", "2 branches on the driver", "64 branches in a graph",
                "64 branches on the driver"},
               {{"oneTBB", 1.5}});
        slopes("B2b", "a wave of ", {"2 branches that meet in a graph", "2 branches that meet on the driver"},
               {{"oneTBB", 1.2}});
        adds();
        networks();
        grains();
        graphs();
        memory();
        start();
        postcondition();
        items();
        threads();
        return {lines_.begin(), lines_.end()};
    }

private:
    static const Samples::Series* side(const Samples::Case* sizes, double size, std::string_view name) {
        if (sizes == nullptr) return nullptr;
        const auto at = sizes->find(size);
        if (at == sizes->end()) return nullptr;
        const auto found = at->second.find(name);
        return found == at->second.end() ? nullptr : &found->second;
    }

    Line& add(std::string row, std::string what, std::string target) {
        Line& line = lines_.emplace_back();
        line.row = std::move(row);
        line.what = std::move(what);
        line.target = std::move(target);
        return line;
    }

    static void at_most(Line& line, double figure, double most, std::string text) {
        line.figure = figure;
        line.figure_text = std::move(text);
        line.met = figure <= most;
    }
    static void at_least(Line& line, double figure, double least, std::string text) {
        line.figure = figure;
        line.figure_text = std::move(text);
        line.met = figure >= least;
    }

    void missing(Line& line, const Samples::Case* sizes, std::string_view peer) const {
        line.not_run = sizes == nullptr ? "not measured in this run" : fmt::format("no {} here", peer);
    }

    static double control_of(const Samples::Case& sizes) {
        return slope(sizes, "again").each / slope(sizes, "soma").each - 1;
    }
    static double control_at(const Samples::Case* sizes, double size) {
        const Samples::Series* again = side(sizes, size, "again");
        const Samples::Series* ours = side(sizes, size, "soma");
        return again == nullptr || ours == nullptr ? 0 : median(ratios(*again, *ours)) - 1;
    }

    void slopes(const std::string& row, const std::string& what, const std::vector<std::string>& cases,
                const std::vector<Peer>& peers) {
        for (const std::string& name : cases) {
            const Samples::Case* sizes = samples_.find(row, name);
            for (const Peer& peer : peers) {
                Line& line = add(row, fmt::format("{}{} against {}", what, cases.size() == 1 ? "" : name, peer.name),
                                 fmt::format("≤ {:g} ×", peer.most));
                const Slope theirs = sizes == nullptr ? Slope{} : slope(*sizes, peer.name);
                if (!theirs.known) {
                    missing(line, sizes, peer.name);
                    continue;
                }
                const Slope ours = slope(*sizes, "soma");
                if (ours.each <= 0 || theirs.each <= 0) {
                    line.not_run = "the larger size took no longer than the smaller: the machine was disturbed";
                    continue;
                }
                line.ours = fmt::format("{} (+ {})", time_text(ours.each), time_text(ours.start));
                line.peer = fmt::format("{} (+ {})", time_text(theirs.each), time_text(theirs.start));
                if (const Slope floor = slope(*sizes, "floor"); floor.known) line.floor = time_text(floor.each);
                at_most(line, ours.each / theirs.each, peer.most, fmt::format("{:.2f} ×", ours.each / theirs.each));
                line.control = control_of(*sizes);
            }
        }
    }

    void adds() {
        const Samples::Case* one = samples_.find("B3", "add of one element");
        Line& line = add("B3", "add of one element, a node more than eager", "≤ 150 ns");
        if (one == nullptr) {
            missing(line, one, "libtorch");
        } else {
            const Slope ours = slope(*one, "soma");
            const Slope eager = slope(*one, "libtorch");
            line.ours = fmt::format("{} (+ {})", time_text(ours.each), time_text(ours.start));
            line.peer = fmt::format("{} (+ {})", time_text(eager.each), time_text(eager.start));
            at_most(line, ours.each - eager.each, 150, time_text(ours.each - eager.each));
            line.control = control_of(*one);
        }
        const Samples::Case* many = samples_.find("B3", "add of 64x64");
        Line& large = add("B3", "add of 64×64 against eager", "≤ 1.05 ×");
        if (many == nullptr) return missing(large, many, "libtorch");
        const Slope ours = slope(*many, "soma");
        const Slope eager = slope(*many, "libtorch");
        large.ours = fmt::format("{} (+ {})", time_text(ours.each), time_text(ours.start));
        large.peer = fmt::format("{} (+ {})", time_text(eager.each), time_text(eager.start));
        at_most(large, ours.each / eager.each, 1.05, fmt::format("{:.3f} ×", ours.each / eager.each));
        large.control = control_of(*many);
    }

    void networks() {
        for (const char* network : {"MLP of 6 layers, 512 wide", "transformer encoder, 2 blocks, 64 wide"}) {
            for (const double batch : {1.0, 64.0}) {
                const std::string name = fmt::format("{}, batch {:g}", network, batch);
                Line& line = add("B4", name + ", against the same by hand (upper 95 % bound)", "≤ 1.02 ×");
                line.tolerance = 0.005;
                const Samples::Case* sizes = samples_.find("B4", name);
                const Samples::Series* ours = side(sizes, batch, "soma");
                const Samples::Series* hand = side(sizes, batch, "libtorch");
                if (ours == nullptr || hand == nullptr) {
                    missing(line, sizes, "libtorch");
                    continue;
                }
                line.ours = time_text(median(*ours));
                line.peer = time_text(median(*hand));
                const Interval ratio = median_interval(ratios(*ours, *hand));
                at_most(line, ratio.high, 1.02, fmt::format("{:.3f} × ({:.3f})", ratio.high, ratio.middle));
                line.control = control_at(sizes, batch);
            }
        }
    }

    /// The shortest task at which two branches on two cores do 95 % of what the cores could; 0 when none measured does.
    static double smallest_task(const Samples::Case& sizes, std::string_view name) {
        constexpr double wanted = 0.95;
        double task_before = 0;
        double efficiency_before = 0;
        for (const auto& [loops, sides] : sizes) {
            const auto actual = sides.find(name);
            const auto bare = sides.find("floor");
            if (actual == sides.end() || bare == sides.end()) return 0;
            const double task = median(bare->second) / 2;
            const double efficiency = median(ratios(bare->second, actual->second)) / 2;
            if (efficiency >= wanted) {
                if (task_before == 0) return task;
                const double part = (wanted - efficiency_before) / (efficiency - efficiency_before);
                return std::exp(std::log(task_before) + part * (std::log(task) - std::log(task_before)));
            }
            task_before = task;
            efficiency_before = efficiency;
        }
        return 0;
    }

    void grains() {
        const Samples::Case* sizes = samples_.find("B5", "grain");
        for (const Peer& peer : {Peer{"oneTBB", 1}, {"Taskflow", 0.5}}) {
            Line& line = add("B5", fmt::format("smallest task for 95 % of two cores, against {}", peer.name),
                             fmt::format("≤ {:g} ×", peer.most));
            if (sizes == nullptr || sizes->empty() || sizes->begin()->second.count(peer.name) == 0) {
                missing(line, sizes, peer.name);
                continue;
            }
            const double longest = median(sizes->rbegin()->second.at("floor")) / 2;
            const double ours = smallest_task(*sizes, "soma");
            const double theirs = smallest_task(*sizes, peer.name);
            if (ours == 0 && theirs == 0) {
                line.not_run =
                    fmt::format("neither keeps 95 % at up to {}: the machine gave no two cores", time_text(longest));
                continue;
            }
            line.ours = ours == 0 ? "> " + time_text(longest) : time_text(ours);
            line.peer = theirs == 0 ? "> " + time_text(longest) : time_text(theirs);
            const double ratio = (ours == 0 ? longest : ours) / (theirs == 0 ? longest : theirs);
            const char* bound = ours == 0 ? "> " : theirs == 0 ? "< " : "";
            at_most(line, ratio, peer.most, fmt::format("{}{:.2f} ×", bound, ratio));
            line.met = line.met && ours != 0;
            const double again = smallest_task(*sizes, "again");
            line.control = (again == 0 ? longest : again) / (ours == 0 ? longest : ours) - 1;
        }
    }

    void graphs() {
        for (const char* shape : {"chain", "fan", "ladder", "random DAG"}) {
            for (const char* part : {"compile", "compile and instantiate"}) {
                const std::string name = fmt::format("{}: {}", part, shape);
                const Samples::Case* sizes = samples_.find("B6", name);
                Line& ratio =
                    add("B6", fmt::format("{}, a {}, against an unordered_map, worst size", part, shape), "≤ 2 ×");
                Line& growth = add("B6", fmt::format("{}, a {}: growth from the second size to the last", part, shape),
                                   "n^1.15 or less");
                if (sizes == nullptr) {
                    missing(ratio, sizes, "unordered_map");
                    missing(growth, sizes, "unordered_map");
                    continue;
                }
                for (const auto& [nodes, sides] : *sizes) {
                    if (sides.count("soma") == 0 || sides.count("unordered_map") == 0) continue;
                    const double ours = median(sides.at("soma"));
                    const double map = median(sides.at("unordered_map"));
                    if (ours / map <= ratio.figure) continue;
                    ratio.ours = fmt::format("{} ({:g} nodes)", time_text(ours), nodes);
                    ratio.peer = time_text(map);
                    at_most(ratio, ours / map, 2, fmt::format("{:.2f} ×", ours / map));
                    ratio.control = control_at(sizes, nodes);
                }
                const auto from = std::next(sizes->begin(), sizes->size() > 2 ? 1 : 0);
                const auto to = std::prev(sizes->end());
                const double first = median(from->second.at("soma"));
                const double last = median(to->second.at("soma"));
                growth.ours =
                    fmt::format("{} → {} a node", time_text(first / from->first), time_text(last / to->first));
                growth.peer = fmt::format("{} → {}", time_text(median(from->second.at("unordered_map")) / from->first),
                                          time_text(median(to->second.at("unordered_map")) / to->first));
                const double power = std::log(last / first) / std::log(to->first / from->first);
                at_most(growth, power, 1.15, fmt::format("n^{:.2f}", power));
                growth.control = control_at(sizes, to->first);
            }
        }
        Line& line =
            add("B6", "reading wire text, against nlohmann-json reading the same graph, worst size", "≥ 0.3 ×");
        const Samples::Case* sizes = samples_.find("B6", "parse");
        if (sizes == nullptr) return missing(line, sizes, "nlohmann-json");
        line.figure = 1e9;
        for (const auto& [bytes, sides] : *sizes) {
            const double ours = median(sides.at("soma"));
            const double json = median(sides.at("nlohmann-json"));
            if (json / ours >= line.figure) continue;
            line.ours = fmt::format("{} ({:g} bytes)", time_text(ours), bytes);
            line.peer = time_text(json);
            at_least(line, json / ours, 0.3, fmt::format("{:.2f} ×", json / ours));
            line.control = control_at(sizes, bytes);
        }
    }

    void memory() {
        for (const char* network : {"MLP of 6 layers, 512 wide", "transformer encoder, 2 blocks, 64 wide"}) {
            Line& line = add("B7", fmt::format("peak memory, {}, batch 64, against by hand", network), "≤ 1.05 ×");
            const Samples::Case* sizes = samples_.find("B7", network);
            const Samples::Series* ours = side(sizes, 64, "soma");
            const Samples::Series* hand = side(sizes, 64, "libtorch");
            if (ours == nullptr || hand == nullptr) {
                missing(line, sizes, "libtorch");
                continue;
            }
            line.ours = fmt::format("{:.0f} KiB", median(*ours) / 1024);
            line.peer = fmt::format("{:.0f} KiB", median(*hand) / 1024);
            at_most(line, median(*ours) / median(*hand), 1.05, fmt::format("{:.3f} ×", median(*ours) / median(*hand)));
            line.control = control_at(sizes, 64);
        }
    }

    void start() {
        Line& line = add("B8", "`somatize devices`, against /bin/true", "≤ 5 ×");
        const Samples::Case* sizes = samples_.find("B8", "somatize devices");
        const Samples::Series* ours = side(sizes, 1, "soma");
        const Samples::Series* bare = side(sizes, 1, "/bin/true");
        if (ours == nullptr || bare == nullptr) {
            missing(line, sizes, "/bin/true");
        } else {
            line.ours = time_text(median(*ours));
            line.peer = time_text(median(*bare));
            const double ratio = median(ratios(*ours, *bare));
            at_most(line, ratio, 5, fmt::format("{:.2f} ×", ratio));
            line.control = control_at(sizes, 1);
        }
        Line& mapped = add("B8", "libtorch mapped by `somatize devices`", "no");
        const Samples::Series* found = side(samples_.find("B8", "libtorch mapped"), 1, "soma");
        if (found == nullptr) return missing(mapped, nullptr, "");
        at_most(mapped, found->front(), 0, found->front() == 0 ? "no" : "yes");
    }

    void postcondition() {
        Line& line = add("B9", "postcondition a tensor, against a bare Tensor::device()", "≤ 6 ×");
        const Samples::Case* sizes = samples_.find("B9", "a list of tensors");
        if (sizes == nullptr) return missing(line, sizes, "libtorch");
        const Slope ours = slope(*sizes, "soma");
        const Slope without = slope(*sizes, "unplaced");
        const Slope bare = slope(*sizes, "Tensor::device()");
        line.ours = time_text(ours.each - without.each);
        line.peer = time_text(bare.each);
        const double ratio = (ours.each - without.each) / bare.each;
        at_most(line, ratio, 6, fmt::format("{:.2f} ×", ratio));
        line.control = control_of(*sizes);
    }

    void items() {
        for (const char* type : {"bench.stage", "bench.remote"}) {
            const Samples::Case* sizes = samples_.find("B10", type);
            const char* kind = std::string_view(type) == "bench.stage" ? "two busy stages" : "two stages that wait";
            for (const double us : {0.0, 10.0, 100.0, 1000.0}) {
                if (us < 1000 && std::string_view(type) == "bench.remote") continue;
                Line& line = add("B10", fmt::format("items through {} of {:g} µs, against one at a time", kind, us),
                                 "≥ 1 (− 5 % noise)");
                const Samples::Series* told = side(samples_.find("B10", "items"), us, "soma");
                const double count = told == nullptr ? 1 : told->front();
                const Samples::Series* ours = side(sizes, us, "soma");
                const Samples::Series* single = side(sizes, us, "one at a time");
                if (ours == nullptr || single == nullptr) {
                    missing(line, sizes, "samples");
                } else {
                    line.ours = time_text(median(*ours) / count) + " an item";
                    line.peer = time_text(median(*single) / count) + " an item";
                    const double ratio = median(ratios(*single, *ours));
                    at_least(line, ratio, 0.95, fmt::format("{:.2f} ×", ratio));
                    line.control = control_at(sizes, us);
                }
                if (us < 1000) continue;
                Line& ideal =
                    add("B10", fmt::format("items through {} of 1 ms, against the slowest stage", kind), "≥ 0.95 ×");
                const Samples::Series* slowest = side(sizes, us, "ideal");
                if (ours == nullptr || slowest == nullptr) {
                    missing(ideal, sizes, "samples");
                    continue;
                }
                ideal.ours = time_text(median(*ours) / count) + " an item";
                ideal.peer = time_text(median(*slowest) / count) + " an item";
                const double ratio = median(ratios(*slowest, *ours));
                at_least(ideal, ratio, 0.95, fmt::format("{:.3f} ×", ratio));
                ideal.control = control_at(sizes, us);
            }
        }
    }

    void threads() {
        Line& line = add("B11", "one pipeline run by two threads, against one thread", "≥ 1.8 ×");
        const Samples::Case* sizes = samples_.find("B11", "4 nodes of 50 us");
        if (sizes == nullptr || sizes->empty()) return missing(line, sizes, "samples");
        const double batch = sizes->begin()->first;
        const Samples::Series* two = side(sizes, batch, "soma");
        const Samples::Series* one = side(sizes, batch, "one thread");
        if (two == nullptr || one == nullptr) return missing(line, sizes, "samples");
        line.ours = time_text(median(*two) / batch / 2) + " a run";
        line.peer = time_text(median(*one) / batch) + " a run";
        if (const Samples::Series* bare = side(sizes, batch, "floor"))
            line.floor = time_text(median(*bare) / batch / 2);
        const double ratio = 2 * median(ratios(*one, *two));
        at_least(line, ratio, 1.8, fmt::format("{:.2f} ×", ratio));
        line.control = control_at(sizes, batch);
    }

    const Samples& samples_;
    std::deque<Line> lines_; ///< a deque: lines that are being filled stay where they are
};

} // namespace

std::vector<Line> lines(const Samples& samples) { return Lines(samples).all(); }

} // namespace soma::bench

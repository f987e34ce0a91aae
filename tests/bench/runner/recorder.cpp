// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

namespace soma::bench {
namespace {

using Clock = std::chrono::steady_clock;

double time_ns(const Side& side, std::size_t repeats) {
    if (side.timed) return side.timed(repeats);
    const auto begin = Clock::now();
    side.work(repeats);
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// The least of a few, unless they are long: a thread that is new or asleep may take milliseconds to take part.
double least_ns(const Side& side, std::size_t repeats) {
    constexpr double enough = 20e6;
    double least = time_ns(side, repeats);
    double all = least;
    for (int more = 0; more < 4 && all < enough; ++more) {
        const double ns = time_ns(side, repeats);
        all += ns;
        least = std::min(least, ns);
    }
    return least;
}

/// So many repeats take about as long as a sample should.
std::size_t repeats_for(const Side& side, std::chrono::nanoseconds sample) {
    std::size_t repeats = 1;
    time_ns(side, 1); // what only the first time costs
    for (;;) {
        const double ns = least_ns(side, repeats);
        const double wanted = static_cast<double>(sample.count());
        if (ns >= wanted / 2) return std::max<std::size_t>(1, static_cast<std::size_t>(repeats * wanted / ns));
        repeats = ns * 8 < wanted ? repeats * 8 : repeats * 2;
    }
}

struct Turn {
    const Point* point;
    const Side* side;
    std::string name;
    std::size_t repeats;
};

} // namespace

Recorder::Recorder(const std::string& path, Effort effort)
    : file_(std::fopen(path.c_str(), "w")), effort_(std::move(effort)) {
    if (file_ == nullptr) throw std::runtime_error("cannot write `" + path + "`");
}

void Recorder::write(const std::string& line) {
    if (std::fputs((line + "\n").c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) {
        throw std::runtime_error("a sample could not be written");
    }
}

void Recorder::measure(std::string_view row, const std::vector<Point>& points, std::size_t pairs,
                       std::chrono::nanoseconds sample) {
    if (pairs == 0 || tiny()) pairs = effort_.pairs;
    if (sample.count() == 0 || tiny()) sample = effort_.sample;
    std::vector<Turn> turns;
    for (const Point& point : points) {
        std::size_t ours = 0;
        for (const Side& side : point.sides) {
            turns.push_back({&point, &side, side.name, repeats_for(side, sample)});
            if (&side == &point.sides.front()) ours = turns.back().repeats;
        }
        // Far from the first turn of ours, so that it stands for the whole round.
        turns.push_back({&point, &point.sides.front(), "again", ours});
    }
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const Turn& turn = turns[(i + pair) % turns.size()];
            if (turn.repeats > 1) {
                // The side before may have threads that still look for work, and this one's may be asleep.
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                time_ns(*turn.side, 1);
            }
            const double ns = time_ns(*turn.side, turn.repeats) / static_cast<double>(turn.repeats);
            put(row, turn.point->name, turn.point->size, turn.name, pair, ns);
        }
    }
}

void Recorder::put(std::string_view row, std::string_view name, double size, std::string_view side, std::size_t pair,
                   double value) {
    write(nlohmann::ordered_json{
        {"row", row}, {"case", name}, {"size", size}, {"side", side}, {"pair", pair}, {"value", value}}
              .dump());
}

void Recorder::fact(std::string_view name, std::string_view value) {
    write(nlohmann::ordered_json{{"fact", name}, {"is", value}}.dump());
}

} // namespace soma::bench

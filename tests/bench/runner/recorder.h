// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace soma::bench {

/// Keeps what was computed from being optimised away.
template <class T>
inline void keep(const T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

/// One thing to time: does its work so many times.
struct Side {
    std::string name; ///< "soma", or a peer's name; "floor" is what no framework can be below
    std::function<void(std::size_t repeats)> work;
    /// In place of `work` where only a part of what is done is to count: nanoseconds of that part.
    std::function<double(std::size_t repeats)> timed = {};
};

/// One size at which all sides are timed. The first side is ours, and is timed twice in each pair: the second time, as
/// "again", is the control.
struct Point {
    std::string name; ///< which of the row's cases
    double size = 1;  ///< in the row's own unit
    std::vector<Side> sides;
};

/// How much is measured.
struct Effort {
    std::size_t pairs = 31;
    std::chrono::nanoseconds sample = std::chrono::milliseconds(2); ///< how long a sample should take
    bool tiny = false;                                              ///< only to see that it works; sizes are small
    std::set<std::string, std::less<>> rows = {};                   ///< empty: all
};

/// Times the sides and keeps every sample, a JSON line each.
class Recorder {
public:
    Recorder(const std::string& path, Effort effort);

    [[nodiscard]] bool wants(std::string_view row) const { return effort_.rows.empty() || effort_.rows.contains(row); }
    [[nodiscard]] const Effort& effort() const noexcept { return effort_; }
    [[nodiscard]] bool tiny() const noexcept { return effort_.tiny; }

    /// Interleaved: in each round every side of every point gives one sample, in an order that turns with the rounds.
    /// `pairs` and `sample` replace the effort's where a row needs its own.
    void measure(std::string_view row, const std::vector<Point>& points, std::size_t pairs = 0,
                 std::chrono::nanoseconds sample = {});
    /// One sample that is not a time, or was timed elsewhere.
    void put(std::string_view row, std::string_view name, double size, std::string_view side, std::size_t pair,
             double value);
    /// A fact about this run: system, versions, method.
    void fact(std::string_view name, std::string_view value);

private:
    void write(const std::string& line);

    struct Close {
        void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
    };
    std::unique_ptr<std::FILE, Close> file_;
    Effort effort_;
};

} // namespace soma::bench

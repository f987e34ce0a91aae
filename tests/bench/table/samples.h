// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace soma::bench {

/// The samples of one run of the comparison, as the runner wrote them.
class Samples {
public:
    /// By pair.
    using Series = std::vector<double>;
    /// By size, then side.
    using Case = std::map<double, std::map<std::string, Series, std::less<>>>;

    /// Reads a file of samples; a line that is none is an error.
    static Samples read(const std::string& file);

    /// A fact about the run; empty when it was not told.
    [[nodiscard]] std::string fact(std::string_view name) const;
    /// Null when nothing was measured.
    [[nodiscard]] const Case* find(std::string_view row, std::string_view name) const;
    /// Names of a row's cases, in the order measured.
    [[nodiscard]] std::vector<std::string> cases(std::string_view row) const;

private:
    std::map<std::string, std::string, std::less<>> facts_;
    std::map<std::string, std::map<std::string, Case, std::less<>>, std::less<>> rows_;
    std::map<std::string, std::vector<std::string>, std::less<>> order_;
};

/// The middle one; of an even number, the mean of the middle two. 0 for none.
double median(Samples::Series series);

/// A median and where it lies with 95 % confidence, whatever the distribution.
struct Interval {
    double low = 0;
    double middle = 0;
    double high = 0;
};
Interval median_interval(Samples::Series series);

/// a[i] / b[i].
Samples::Series ratios(const Samples::Series& a, const Samples::Series& b);

/// What a case costs more a unit of its size, and what it costs at size 0: from the smallest and the greatest size,
/// measured in the same rounds.
struct Slope {
    double each = 0;
    double start = 0;
    bool known = false;
};
Slope slope(const Samples::Case& sizes, std::string_view side);

} // namespace soma::bench

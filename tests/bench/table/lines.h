// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "samples.h"

namespace soma::bench {

/// One line of the table: a figure held to a target.
struct Line {
    std::string row;
    std::string what;
    std::string ours;  ///< measured, with its unit
    std::string peer;  ///< the same of what it is compared with
    std::string floor; ///< what nothing can be below; empty where the peer is that
    double figure = 0;
    std::string figure_text;
    std::string target;
    bool met = false;
    std::optional<double> control; ///< A/A: ours against ours again, as a fraction of 1; nothing where it is exact
    double tolerance = 0.05;       ///< the line counts only if the control is within
    std::string not_run;           ///< why there is no figure

    [[nodiscard]] bool counts() const {
        return not_run.empty() && (!control || (*control <= tolerance && *control >= -tolerance));
    }
};

/// Every line of the table; those without samples say that they were not run.
std::vector<Line> lines(const Samples& samples);

} // namespace soma::bench

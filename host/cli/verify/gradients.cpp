// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/error.h"
#include "verify/checks.h"
#include "verify/differentiate.h"
#include "verify/leaks.h"

namespace soma::cli::verify {

namespace {

/// How far gradients may be from differences, by how the node computes.
struct Precision {
    double step;
    double absolute;
    double relative;
    double rounding; ///< of the value that the differences are of, over the step
};

constexpr Precision in_double{1e-6, 1e-5, 1e-3, 1e-9};
constexpr Precision in_single{1e-2, 1e-3, 2e-2, 1e-5};

// Of each tensor: the elements with the greatest gradients, some more that are spread over it, and all of it at once
// along a few directions. Two runs each.
constexpr std::size_t greatest = 16;
constexpr std::size_t spread = 16;
constexpr std::size_t directions = 2;
// Along a direction all elements change together: so far as one of this many would, that many being changed.
constexpr double reach = 64;

using Direction = std::vector<std::pair<std::size_t, double>>;

double random_part(std::uint64_t seed) {
    seed = (seed + 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
    seed = (seed ^ (seed >> 30U)) * 0x94d049bb133111ebU;
    return static_cast<double>((seed ^ (seed >> 31U)) >> 11U) * 0x1.0p-52 - 1;
}

std::vector<std::size_t> elements_to_try(const std::vector<double>& gradient) {
    std::vector<std::size_t> order(gradient.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t most = std::min(greatest, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [&](std::size_t a, std::size_t b) { return std::abs(gradient[a]) > std::abs(gradient[b]); });
    order.resize(most);
    for (std::size_t i = 0; i < spread; ++i) order.push_back(i * gradient.size() / spread);
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    return order;
}

/// Compares along one direction; what differs, or nothing.
std::optional<std::string> differs(Function& function, std::size_t tensor, const Direction& direction,
                                   const std::vector<double>& gradient, const Precision& precision,
                                   std::string_view what) {
    double told = 0;
    for (const auto& [index, amount] : direction) told += amount * gradient[index];
    const double after = function.value(tensor, direction, precision.step);
    const double before = function.value(tensor, direction, -precision.step);
    const double seen = (after - before) / (2 * precision.step);
    if (std::isnan(seen) && std::isnan(told)) return std::nullopt;
    const double allowed = precision.absolute + precision.relative * std::max(std::abs(seen), std::abs(told)) +
                           precision.rounding * std::max(std::abs(before), std::abs(after));
    if (std::abs(seen - told) <= allowed) return std::nullopt;
    return fmt::format("by its {}, {}, it says {:.4g}, and differences say {:.4g}", function.name(tensor), what, told,
                       seen);
}

std::optional<std::string> wrong(Function& function, std::size_t tensor,
                                 const std::optional<std::vector<double>>& given, const Precision& precision,
                                 std::size_t& compared) {
    const std::size_t count = function.elements(tensor);
    const std::vector<double> gradient = given.value_or(std::vector<double>(count, 0.0));
    const auto told = [&](std::string found) {
        return given ? std::move(found) : found + " (no gradient leads there)";
    };
    for (const std::size_t index : elements_to_try(gradient)) {
        ++compared;
        const std::string what = fmt::format("element {}", index);
        if (auto found = differs(function, tensor, {{index, 1.0}}, gradient, precision, what)) return told(*found);
    }
    const double scale = std::sqrt(std::min(1.0, reach / static_cast<double>(count)));
    for (std::size_t i = 0; i < directions; ++i) {
        Direction direction(count);
        for (std::size_t j = 0; j < count; ++j) direction[j] = {j, scale * random_part(j * directions + i)};
        ++compared;
        if (auto found = differs(function, tensor, direction, gradient, precision, "all elements at once")) {
            return told(*found);
        }
    }
    return std::nullopt;
}

/// In float64 if the node takes it, else in float32.
Function function_of(Subject& subject) {
    try {
        Function exact(subject, "float64");
        if (exact.dtype() == "float64") return exact;
    } catch (const Error&) {
        // It takes no float64.
    }
    return Function(subject, "float32");
}

std::string left_by_backward(Function& function) {
    Leaks leaks;
    for (int i = 0; i < 4; ++i) {
        (void)function.gradients();
        leaks.note();
    }
    return leaks.each_time();
}

} // namespace

Outcome check_gradients(Subject& subject) {
    const NodeType& type = subject.type();
    if (!type.has(SOMA_NODE_DIFFERENTIABLE)) return Outcome::not_checked("it does not say that it is differentiable");
    if (type.has(SOMA_NODE_NOT_SMOOTH)) return Outcome::not_checked("it says that it is not smooth");
    if (subject.machine().engine == nullptr) return Outcome::not_checked(subject.machine().no_engine);
    if (!subject.passed("input unmodified")) return Outcome::not_checked("it writes to its input");
    Function function = function_of(subject);
    if (!function.unfit().empty()) return Outcome::not_checked(function.unfit());
    const auto gradients = function.gradients();
    if (!gradients) {
        return Outcome::fail("it says that it is differentiable, and its result carries no gradient");
    }
    const Precision& precision = function.dtype() == "float64" ? in_double : in_single;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        if (function.elements(i) == 0) continue;
        if (auto found = wrong(function, i, gradients->at(i), precision, compared)) {
            return Outcome::fail(std::move(*found));
        }
    }
    // What running it leaves behind has been told.
    if (subject.passed("handles released")) {
        if (const std::string left = left_by_backward(function); !left.empty()) {
            return Outcome::fail(fmt::format("differentiated, it leaves {} behind each time", left));
        }
    }
    return Outcome::pass(fmt::format("{} differences in {}", compared, function.dtype()));
}

} // namespace soma::cli::verify

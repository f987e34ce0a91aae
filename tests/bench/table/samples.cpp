// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace soma::bench {

Samples Samples::read(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read `" + file + "`");
    Samples samples;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        try {
            const nlohmann::json said = nlohmann::json::parse(line);
            if (said.contains("fact")) {
                samples.facts_[said.at("fact").get<std::string>()] = said.at("is").get<std::string>();
                continue;
            }
            const auto row = said.at("row").get<std::string>();
            const auto name = said.at("case").get<std::string>();
            auto& order = samples.order_[row];
            if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
            samples.rows_[row][name][said.at("size").get<double>()][said.at("side").get<std::string>()].push_back(
                said.at("value").get<double>());
        } catch (const std::exception& error) {
            throw std::runtime_error(file + ":" + std::to_string(number) + ": no sample: " + error.what());
        }
    }
    return samples;
}

std::string Samples::fact(std::string_view name) const {
    const auto at = facts_.find(name);
    return at == facts_.end() ? std::string() : at->second;
}

const Samples::Case* Samples::find(std::string_view row, std::string_view name) const {
    const auto at = rows_.find(row);
    if (at == rows_.end()) return nullptr;
    const auto found = at->second.find(name);
    return found == at->second.end() ? nullptr : &found->second;
}

std::vector<std::string> Samples::cases(std::string_view row) const {
    const auto at = order_.find(row);
    return at == order_.end() ? std::vector<std::string>() : at->second;
}

double median(Samples::Series series) {
    if (series.empty()) return 0;
    std::sort(series.begin(), series.end());
    const std::size_t half = series.size() / 2;
    return series.size() % 2 == 1 ? series[half] : (series[half - 1] + series[half]) / 2;
}

Interval median_interval(Samples::Series series) {
    if (series.empty()) return {};
    std::sort(series.begin(), series.end());
    // By rank: how many samples are below the true median is binomial, so its normal approximation gives the ranks.
    const double count = static_cast<double>(series.size());
    const double away = 1.96 * std::sqrt(count) / 2;
    const auto rank = [&](double at) { return series[static_cast<std::size_t>(std::clamp(at, 1.0, count)) - 1]; };
    return {rank(std::floor(count / 2 - away)), median(series), rank(std::ceil(1 + count / 2 + away))};
}

Samples::Series ratios(const Samples::Series& a, const Samples::Series& b) {
    Samples::Series out;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) out.push_back(a[i] / b[i]);
    return out;
}

Slope slope(const Samples::Case& sizes, std::string_view side) {
    if (sizes.size() < 2) return {};
    const auto& [small, small_sides] = *sizes.begin();
    const auto& [great, great_sides] = *sizes.rbegin();
    const auto low = small_sides.find(side);
    const auto high = great_sides.find(side);
    if (low == small_sides.end() || high == great_sides.end()) return {};
    Samples::Series each;
    for (std::size_t i = 0; i < std::min(low->second.size(), high->second.size()); ++i) {
        each.push_back((high->second[i] - low->second[i]) / (great - small));
    }
    const double middle = median(std::move(each));
    return {middle, median(low->second) - small * middle, true};
}

} // namespace soma::bench

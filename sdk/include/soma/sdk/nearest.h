// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file nearest.h
/// The nearest valid name, for error messages.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace soma::sdk {

/// How many single letters must be added, removed or replaced to turn one name into another.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

/// " (did you mean `weight`?)", or an empty text when no name is near.
inline std::string did_you_mean(std::string_view wrong, const std::vector<std::string_view>& names) {
    std::string_view best;
    std::size_t distance = wrong.size() / 2 + 1;
    for (const std::string_view name : names) {
        const std::size_t candidate = edit_distance(wrong, name);
        if (candidate < distance) {
            distance = candidate;
            best = name;
        }
    }
    return best.empty() ? std::string{} : " (did you mean `" + std::string{best} + "`?)";
}

} // namespace soma::sdk

// SPDX-License-Identifier: Apache-2.0
#include "soma/suggest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace soma {

namespace {

// Costs are in halves of an edit, since a difference of case alone is half of one.
constexpr std::size_t edit = 2;
constexpr std::size_t half = 1;

// Nobody mistypes a name longer than this and hopes; it also bounds the work.
constexpr std::size_t longest = 200;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// What it costs to make `a` of `b`; anything above `limit` once that much is certain.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (gap * edit > limit) return limit + 1;
    std::vector<std::size_t> before(b.size() + 1); // the row before the last, for swaps
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j * edit;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i * edit;
        std::size_t least = row[0];
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? half : edit;
            std::size_t cost = std::min({last[j] + edit, row[j - 1] + edit, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost = std::min(cost, before[j - 2] + edit);
            }
            row[j] = cost;
            least = std::min(least, cost);
        }
        if (least > limit) return limit + 1;
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

// `linear` is most of `nn.linear`, however long the family's name.
bool is_last_part(std::string_view name, std::string_view candidate) {
    return candidate.size() > name.size() + 1 && candidate.substr(candidate.size() - name.size()) == name &&
           candidate[candidate.size() - name.size() - 1] == '.';
}

} // namespace

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
    if (name.empty() || name.size() > longest) return std::nullopt;
    const std::string* best = nullptr;
    std::size_t best_cost = 0;
    for (const std::string& candidate : candidates) {
        if (candidate.empty() || candidate.size() > longest) continue;
        const std::size_t length = std::max(name.size(), candidate.size());
        // A third of the name may be wrong, one edit at least, but something must be right.
        std::size_t limit = std::min(std::max(edit, length * edit / 3), length * edit - 1);
        if (best != nullptr) {
            if (best_cost == 0) break;
            limit = std::min(limit, best_cost - 1);
        }
        const std::size_t cost =
            is_last_part(name, candidate) ? std::min(limit, edit) : distance(name, candidate, limit);
        if (cost <= limit) {
            best = &candidate;
            best_cost = cost;
        }
    }
    return best == nullptr ? std::nullopt : std::optional<std::string>(*best);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
    const auto found = nearest(name, candidates);
    return found ? " (did you mean `" + *found + "`?)" : std::string();
}

} // namespace soma

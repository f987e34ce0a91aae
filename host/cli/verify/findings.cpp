// SPDX-License-Identifier: Apache-2.0
#include "verify/findings.h"

#include <algorithm>

namespace soma::cli::verify {

std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::fail: return "FAIL";
    case Verdict::not_checked: return "not checked";
    }
    return "not checked";
}

const Outcome* Findings::find(std::string_view node, std::string_view check) const noexcept {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.node == node && row.check == check; });
    return found == rows.end() ? nullptr : &found->outcome;
}

void Findings::set(Row row) {
    const auto found = std::find_if(
        rows.begin(), rows.end(), [&](const Row& other) { return other.node == row.node && other.check == row.check; });
    if (found == rows.end()) {
        rows.push_back(std::move(row));
    } else {
        found->outcome = std::move(row.outcome);
    }
}

std::optional<Value> Findings::config(std::string_view node) const {
    for (const auto& [name, config] : configs) {
        if (name == node) return config;
    }
    return std::nullopt;
}

void Findings::set_config(std::string_view node, Value config) {
    for (auto& [name, known] : configs) {
        if (name != node) continue;
        known = std::move(config);
        return;
    }
    configs.emplace_back(node, std::move(config));
}

std::size_t Findings::count(Verdict verdict) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.outcome.verdict == verdict; }));
}

} // namespace soma::cli::verify

// SPDX-License-Identifier: Apache-2.0
#include "verify/leaks.h"

#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

#include "soma/value.h"

namespace soma::cli::verify {

namespace {

using Left = detail::HandleWatch::Left;

void add(std::vector<std::string>& parts, std::size_t before, std::size_t after, std::string_view one,
         std::string_view several) {
    if (after > before) parts.push_back(fmt::format("{} {}", after - before, after - before == 1 ? one : several));
}

std::string growth(const Left& before, const Left& after) {
    std::vector<std::string> parts;
    for (const auto& [kind, count] : after.handles) {
        const auto known = before.handles.find(kind);
        const std::string name(to_string(Kind{kind}));
        add(parts, known == before.handles.end() ? 0 : known->second, count, name, name + "s");
    }
    add(parts, before.statuses, after.statuses, "status", "statuses");
    return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

std::string Leaks::each_time() const {
    std::string last;
    for (std::size_t i = 1; i < left_.size(); ++i) {
        last = growth(left_[i - 1], left_[i]);
        if (last.empty()) return {};
    }
    return last;
}

} // namespace soma::cli::verify

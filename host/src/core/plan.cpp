// SPDX-License-Identifier: Apache-2.0
#include "soma/plan.h"

#include <algorithm>
#include <string_view>

namespace soma {

namespace {

// Calls `enter(index, depth)` at every step and `leave(index, depth)` after the last step inside it.
template <class Enter, class Leave>
void walk(const std::vector<Plan::Step>& steps, Enter enter, Leave leave) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i <= steps.size(); ++i) {
        while (!open.empty() && open.back() + steps[open.back()].extent == i) {
            const std::size_t step = open.back();
            open.pop_back();
            leave(step, open.size());
        }
        if (i == steps.size()) break;
        enter(i, open.size());
        open.push_back(i);
    }
}

constexpr std::string_view word(Plan::Kind kind) { return kind == Plan::Kind::wave ? "wave" : "sequence"; }

} // namespace

std::string Plan::str() const {
    std::string out;
    walk(
        steps,
        [&](std::size_t i, std::size_t depth) {
            out.append(2 * depth, ' ');
            out += steps[i].kind == Kind::call ? std::string_view(nodes[steps[i].node]) : word(steps[i].kind);
            out += '\n';
        },
        [](std::size_t, std::size_t) {});
    return out;
}

std::string Plan::to_json() const {
    if (steps.empty()) return R"({"sequence": []})";
    std::string out;
    bool first = true; // in the step that is open
    walk(
        steps,
        [&](std::size_t i, std::size_t) {
            if (!first) out += ", ";
            first = steps[i].kind != Kind::call;
            if (first) {
                out.append("{\"").append(word(steps[i].kind)).append("\": [");
            } else {
                out.append("\"").append(nodes[steps[i].node]).append("\""); // an id has nothing that JSON escapes
            }
        },
        [&](std::size_t i, std::size_t) {
            first = false;
            if (steps[i].kind != Kind::call) out += "]}";
        });
    return out;
}

std::size_t Plan::width() const {
    std::vector<std::size_t> widths(steps.size(), 0);
    for (std::size_t i = steps.size(); i-- > 0;) {
        if (steps[i].kind == Kind::call) {
            widths[i] = 1;
            continue;
        }
        for (std::size_t part = i + 1; part < i + steps[i].extent; part += steps[part].extent) {
            widths[i] = steps[i].kind == Kind::wave ? widths[i] + widths[part] : std::max(widths[i], widths[part]);
        }
    }
    return steps.empty() ? 0 : widths.front();
}

} // namespace soma

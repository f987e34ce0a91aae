// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "soma/value.h"

namespace soma::detail {

/// The value with some of its parts replaced. `replace(part)` is asked for the value itself, then for what is inside lists
/// and dicts: what it returns stands for the part, nullopt keeps it, and looks inside. What holds nothing that was replaced
/// is shared, not copied. However deep the value, the stack is not.
template <class Replace>
Value rebuild(const Value& root, Replace&& replace) {
    struct Frame {
        const Value* whole;
        std::vector<Value> parts;
        bool changed = false;
    };
    std::vector<Frame> open;
    Value done;
    bool changed = false;
    const auto enter = [&](const Value& part) {
        std::optional<Value> other = replace(part);
        changed = other.has_value();
        if (other) {
            done = std::move(*other);
        } else if (part.size() > 0) {
            open.push_back({&part, {}});
            open.back().parts.reserve(part.size());
            return;
        } else {
            done = part;
        }
        if (open.empty()) return;
        open.back().parts.push_back(std::move(done));
        open.back().changed |= changed;
    };
    enter(root);
    while (!open.empty()) {
        Frame& frame = open.back();
        if (frame.parts.size() < frame.whole->size()) {
            enter(frame.whole->at(frame.parts.size()));
            continue;
        }
        changed = frame.changed;
        if (!changed) {
            done = *frame.whole;
        } else if (frame.whole->kind() == Kind::list) {
            done = Value::list(std::move(frame.parts));
        } else {
            std::vector<std::pair<std::string, Value>> entries;
            entries.reserve(frame.parts.size());
            for (std::size_t i = 0; i < frame.parts.size(); ++i) {
                entries.emplace_back(frame.whole->key(i), std::move(frame.parts[i]));
            }
            done = Value::dict(std::move(entries));
        }
        open.pop_back();
        if (open.empty()) break;
        open.back().parts.push_back(std::move(done));
        open.back().changed |= changed;
    }
    return done;
}

} // namespace soma::detail

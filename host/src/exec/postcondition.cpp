// SPDX-License-Identifier: Apache-2.0
#include "postcondition.h"

#include <algorithm>

#include "core/value_data.h"
#include "soma/detail/opaque.h"

namespace soma::exec {
namespace {

/// One level of a nested value still to be looked at; a list of them instead of recursion, so depth costs no stack.
struct Level {
    const Value* value;
    std::size_t next = 0;
};

std::string path_text(const std::vector<Level>& levels) {
    std::string path;
    for (const Level& level : levels) {
        if (level.value->kind() == Kind::list) {
            path += '[' + std::to_string(level.next - 1) + ']';
        } else if (level.value->kind() == Kind::dict) {
            if (!path.empty()) path += '.';
            path += level.value->key(level.next - 1);
        }
    }
    return path;
}

/// Calls `visit` on every value that is not a list or dict, until it returns false; `levels` then leads there.
template <class Visit>
bool walk(const Value& root, std::vector<Level>& levels, Visit visit) {
    const auto nested = [](const Value& v) { return v.kind() == Kind::list || v.kind() == Kind::dict; };
    if (!nested(root)) return visit(root);
    levels.push_back({&root});
    while (!levels.empty()) {
        Level& level = levels.back();
        if (level.next == level.value->size()) {
            levels.pop_back();
            continue;
        }
        const Value& item = level.value->at(level.next++);
        if (nested(item)) {
            levels.push_back({&item});
        } else if (!visit(item)) {
            return false;
        }
    }
    return true;
}

bool same(soma_place a, soma_place b) { return a.kind == b.kind && a.index == b.index; }

} // namespace

bool is_on(const Value& value, soma_place declared, Misplaced& out) {
    std::vector<Level> levels;
    soma_place found{SOMA_DEVICE_NONE, 0};
    const bool all = walk(value, levels, [&](const Value& leaf) {
        switch (leaf.kind()) {
        case Kind::tensor:
        case Kind::generator: found = place_of_tensor(leaf.handle()); break;
        case Kind::opaque: found = detail::opaque_place(leaf.handle()); break;
        default: return true;
        }
        return found.kind == SOMA_DEVICE_NONE || same(found, declared);
    });
    if (!all) {
        out.found = place_text(found);
        out.path = path_text(levels);
    }
    return all;
}

bool holds_at(const soma_value* value, soma_place declared, const detail::Engine* engine) noexcept {
    if (engine == nullptr) return false;
    const auto fits = [&](const Value& item) {
        const soma_value* handle = item.handle();
        if (handle->kind != SOMA_KIND_TENSOR) return handle->kind < SOMA_KIND_LIST;
        return same(engine->place(handle->kind, handle->payload), declared);
    };
    if (value->kind == SOMA_KIND_LIST) {
        const auto& items = detail::data_of<detail::ListData>(value).items;
        return std::all_of(items.begin(), items.end(), fits);
    }
    const auto& entries = detail::data_of<detail::DictData>(value).entries;
    return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) { return fits(entry.second); });
}

std::string place_text(soma_place place) {
    if (const auto device = Device::from_place(place)) return device->str();
    char buffer[64];
    const detail::Engine* engine = detail::engine();
    if (engine == nullptr) return "an unknown device";
    return {buffer, engine->place_text(place, buffer, sizeof(buffer))};
}

void collect_tensors(const Value& value, std::vector<Value>& out) {
    std::vector<Level> levels;
    walk(value, levels, [&](const Value& leaf) {
        if (leaf.kind() == Kind::tensor) out.push_back(leaf);
        return true;
    });
}

} // namespace soma::exec

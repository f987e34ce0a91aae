// SPDX-License-Identifier: Apache-2.0
#include "core/handle_watch.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "soma/detail/handle_watch.h"

namespace soma::detail {

constinit std::atomic<bool> handles_watched{false};

namespace {

struct Register {
    std::mutex mutex;
    std::unordered_map<const soma_value*, std::uint32_t> handles; // and the kind of each
    std::unordered_set<const soma_status*> statuses;
};

// Never destroyed: handles are freed to the very end.
Register& the_register() {
    static Register& made = *std::make_unique<Register>().release();
    return made;
}

// A handle that could not be noted for want of memory is not looked for either.
template <class Note>
void note(Note&& take_down) noexcept {
    try {
        Register& all = the_register();
        const std::lock_guard lock(all.mutex);
        take_down(all);
    } catch (...) {
    }
}

} // namespace

void watch_made(const soma_value* value, std::uint32_t kind) noexcept {
    note([&](Register& all) { all.handles[value] = kind; });
}

void watch_freed(const soma_value* value) noexcept {
    note([&](Register& all) { all.handles.erase(value); });
}

void watch_made(const soma_status* status) noexcept {
    note([&](Register& all) { all.statuses.insert(status); });
}

void watch_freed(const soma_status* status) noexcept {
    note([&](Register& all) { all.statuses.erase(status); });
}

HandleWatch::HandleWatch() {
    note([](Register& all) {
        all.handles.clear();
        all.statuses.clear();
    });
    handles_watched.store(true);
}

HandleWatch::~HandleWatch() { handles_watched.store(false); }

HandleWatch::Left HandleWatch::left() {
    Left out;
    note([&](const Register& all) {
        for (const auto& [handle, kind] : all.handles) ++out.handles[kind];
        out.statuses = all.statuses.size();
    });
    return out;
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "helpers.h"

#include <utility>

namespace soma::exec {

namespace {

/// How often a thread looks for a task by itself before it sleeps.
constexpr int looks = 20;

} // namespace

Helpers::~Helpers() {
    {
        const std::lock_guard guard(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

Helpers::Lease::Lease(Helpers& helpers, std::size_t count, const std::function<void()>& task, bool at_once)
    : helpers_(helpers), count_(count) {
    helpers.hand_out(count, task, at_once);
}

Helpers::Lease::~Lease() {
    const std::lock_guard guard(helpers_.mutex_);
    helpers_.wanted_ -= count_;
}

void Helpers::hand_out(std::size_t count, const std::function<void()>& task, bool at_once) {
    const std::lock_guard guard(mutex_);
    wanted_ += count;
    try {
        while (threads_.size() < wanted_) threads_.emplace_back([this] { serve(); });
        for (std::size_t i = 0; i < count; ++i) tasks_.push_back(task);
    } catch (...) {
        // A system out of threads or memory: fewer take part.
    }
    // Those that are awake come by themselves, unless another lease keeps them.
    const std::size_t awake = threads_.size() - asleep_;
    if (at_once || wanted_ > count || awake < tasks_.size()) wake_.notify_all();
}

void Helpers::serve() {
    std::unique_lock guard(mutex_);
    const auto told = [this] { return ending_ || !tasks_.empty(); };
    for (;;) {
        for (int i = 0; i < looks && !told(); ++i) wake_.wait_for(guard, patience);
        if (!told()) {
            ++asleep_;
            wake_.wait(guard, told);
            --asleep_;
        }
        if (tasks_.empty()) return;
        const std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        guard.unlock();
        task();
        guard.lock();
    }
}

} // namespace soma::exec

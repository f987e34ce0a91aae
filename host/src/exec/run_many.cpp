// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "soma/detail/engine.h"
#include "soma/error.h"
#include "soma/executor.h"

namespace soma {
namespace {

/// Items taken from `next` and handed to `done` in order, with a bounded number in between.
class Belt {
public:
    Belt(Executor& executor, const std::function<std::optional<Value>()>& next,
         const std::function<void(ItemResult)>& done, const ManyOptions& options)
        : executor_(executor), next_(next), done_(done), run_(options.run),
          in_flight_(std::max<std::size_t>(1, options.in_flight)), engine_(detail::engine()) {
        run_.report = nullptr;
        run_.keep.clear();
        run_.kept = nullptr;
        if (engine_ == nullptr) return;
        threads_before_ = engine_->intraop_threads();
        state_ = {engine_->state_capture(), engine_->state_free};
    }

    void run() {
        std::vector<std::thread> helpers;
        try {
            while (helpers.size() + 1 < in_flight_) helpers.emplace_back([this] { help(); });
        } catch (...) {
            // A system out of threads: fewer items are under way at once, the results are the same.
        }
        work(false);
        for (std::thread& helper : helpers) helper.join();
        if (engine_ != nullptr) engine_->set_intraop_threads(threads_before_);
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    using Clock = std::chrono::steady_clock;

    /// An item that takes less is run sooner than it is given to another thread.
    static constexpr std::chrono::microseconds worth_sharing{15};
    /// A helper that is not needed looks so often whether the others have got stuck in a longer item.
    static constexpr std::chrono::milliseconds look_again{1};

    void help() noexcept {
        void* guard = engine_ != nullptr ? engine_->state_enter(state_.get()) : nullptr;
        work(true);
        if (guard != nullptr) engine_->state_leave(guard);
    }

    /// Whether this thread may take an item: there is room, and nobody asks for one just now.
    [[nodiscard]] bool may_take() const { return ended_ || (!taking_ && taken_ - delivered_ < in_flight_); }

    /// Waits for an item's turn. A helper leaves short ones to the caller's thread, unless that has taken none for a while.
    void wait(std::unique_lock<std::mutex>& guard, bool helper) {
        while (helper && !ended_ && usual_ < worth_sharing) {
            const std::size_t seen = taken_;
            if (parked_.wait_for(guard, look_again, [this] { return ended_ || usual_ >= worth_sharing; })) break;
            if (seen == taken_ && may_take()) return;
        }
        room_.wait(guard, [this] { return may_take(); });
    }

    void work(bool helper) noexcept {
        if (engine_ != nullptr) {
            engine_->set_intraop_threads(std::max(1, threads_before_ / static_cast<std::int32_t>(in_flight_)));
        }
        std::unique_lock guard(mutex_);
        for (;;) {
            wait(guard, helper);
            std::optional<Value> item = ended_ ? std::nullopt : take(guard);
            if (!item) return;
            const std::size_t index = taken_++;
            taking_ = false;
            room_.notify_all();

            guard.unlock();
            ItemResult result{index, {}, {}};
            const auto begin = Clock::now();
            try {
                result.result = executor_.run(*item, run_);
            } catch (...) {
                result.error = std::current_exception();
            }
            const auto time = Clock::now() - begin;
            item.reset();
            guard.lock();
            const bool was_short = usual_ < worth_sharing;
            usual_ = (3 * usual_ + time) / 4;
            if (was_short && usual_ >= worth_sharing) parked_.notify_all();
            finished_.emplace(index, std::move(result));
            deliver(guard);
        }
    }

    /// The next item; `next` runs without the lock, so that finished items are handed out meanwhile.
    std::optional<Value> take(std::unique_lock<std::mutex>& guard) {
        taking_ = true;
        guard.unlock();
        std::optional<Value> item;
        std::exception_ptr failure;
        try {
            item = next_();
        } catch (...) {
            failure = std::current_exception();
        }
        guard.lock();
        if (!item) end(failure);
        return ended_ ? std::nullopt : std::move(item);
    }

    /// Hands out what is finished and has its turn. One thread does at a time; the others leave theirs to it.
    void deliver(std::unique_lock<std::mutex>& guard) {
        if (delivering_) return;
        delivering_ = true;
        while (!failure_ && !finished_.empty() && finished_.begin()->first == delivered_) {
            ItemResult result = std::move(finished_.begin()->second);
            finished_.erase(finished_.begin());
            guard.unlock();
            std::exception_ptr failure;
            try {
                done_(std::move(result));
            } catch (...) {
                failure = std::current_exception();
            }
            guard.lock();
            ++delivered_;
            if (failure) end(failure);
            room_.notify_all();
        }
        delivering_ = false;
    }

    void end(std::exception_ptr failure) {
        ended_ = true;
        taking_ = false;
        if (failure && !failure_) failure_ = std::move(failure);
        room_.notify_all();
        parked_.notify_all();
    }

    Executor& executor_;
    const std::function<std::optional<Value>()>& next_;
    const std::function<void(ItemResult)>& done_;
    RunOptions run_;
    const std::size_t in_flight_;
    const detail::Engine* engine_;
    std::int32_t threads_before_ = 1;
    std::shared_ptr<void> state_; ///< the caller's thread state, for the helpers

    std::mutex mutex_; ///< guards what follows
    std::condition_variable room_;
    std::condition_variable parked_; ///< helpers that are not needed now
    std::size_t taken_ = 0;
    std::size_t delivered_ = 0;
    bool taking_ = false;
    bool delivering_ = false;
    bool ended_ = false;
    Clock::duration usual_ = worth_sharing; ///< how long an item takes, the last ones above all
    std::map<std::size_t, ItemResult> finished_;
    std::exception_ptr failure_;
};

} // namespace

void Executor::run_many(const std::function<std::optional<Value>()>& next, const std::function<void(ItemResult)>& done,
                        const ManyOptions& options) {
    Belt(*this, next, done, options).run();
}

} // namespace soma

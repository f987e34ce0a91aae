// SPDX-License-Identifier: Apache-2.0
#include "run_many.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "soma/detail/engine.h"
#include "soma/error.h"

namespace soma::exec {
namespace {

/// Items taken from `next` and handed to `done` in order, with a bounded number in between.
///
/// A helper shares it, as one that is not needed may find out only later that all is over.
class Belt : public std::enable_shared_from_this<Belt> {
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

    void run(Helpers& helpers) {
        if (const auto before = helpers.usual.load(std::memory_order_relaxed); before.count() >= 0) usual_ = before;
        std::optional<Helpers::Lease> lease;
        if (in_flight_ > 1) {
            lease.emplace(
                helpers, in_flight_ - 1, [belt = shared_from_this()] { belt->help(); }, usual_ >= worth_sharing);
        }
        share_threads();
        {
            std::unique_lock guard(mutex_);
            work(guard, false);
            // Those that only wait to be needed find out by themselves: waking a thread takes as long as many an item.
            left_.wait(guard, [this] { return helping_ == 0; });
            helpers.usual.store(usual_, std::memory_order_relaxed);
        }
        if (engine_ != nullptr) engine_->set_intraop_threads(threads_before_);
        // Nothing of the caller's may live until a helper notices that all is over.
        run_ = {};
        finished_.clear();
        state_.reset();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    using Clock = std::chrono::steady_clock;

    /// An item that takes less is run sooner than it is given to another thread.
    static constexpr std::chrono::microseconds worth_sharing{15};
    /// A helper that is not needed looks so often whether the others have got stuck in a longer item, or are done.
    static constexpr std::chrono::milliseconds look_again = Helpers::patience;

    void share_threads() const noexcept {
        if (engine_ == nullptr) return;
        engine_->set_intraop_threads(std::max(1, threads_before_ / static_cast<std::int32_t>(in_flight_)));
    }

    /// What a helper does until all is over. The thread has the caller's state only while it is needed: nobody waits for it
    /// else.
    void help() noexcept {
        std::unique_lock guard(mutex_);
        while (is_needed(guard)) {
            ++helping_;
            guard.unlock();
            void* state = engine_ != nullptr ? engine_->state_enter(state_.get()) : nullptr;
            share_threads();
            guard.lock();
            work(guard, true);
            guard.unlock();
            if (state != nullptr) engine_->state_leave(state);
            guard.lock();
            if (--helping_ == 0) left_.notify_all();
        }
    }

    /// Waits until items take long enough to be shared, or the others have taken none for a while; false: all is over.
    bool is_needed(std::unique_lock<std::mutex>& guard) {
        while (!ended_ && usual_ < worth_sharing) {
            const std::size_t seen = taken_;
            if (parked_.wait_for(guard, look_again, [this] { return ended_ || usual_ >= worth_sharing; })) break;
            if (seen == taken_ && may_take()) break;
        }
        return !ended_;
    }

    /// Whether this thread may take an item: there is room, and nobody asks for one just now.
    [[nodiscard]] bool may_take() const { return ended_ || (!taking_ && taken_ - delivered_ < in_flight_); }

    /// Items, one after the other, until there is none. A helper takes one at least and leaves short ones to the others.
    void work(std::unique_lock<std::mutex>& guard, bool helper) noexcept {
        do {
            room_.wait(guard, [this] { return may_take(); });
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
        } while (!helper || usual_ >= worth_sharing);
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
    std::condition_variable left_;   ///< the caller, while helpers have its state
    std::size_t taken_ = 0;
    std::size_t delivered_ = 0;
    std::size_t helping_ = 0; ///< helpers that have the caller's state
    bool taking_ = false;
    bool delivering_ = false;
    bool ended_ = false;
    Clock::duration usual_ = worth_sharing; ///< how long an item takes, the last ones above all
    std::map<std::size_t, ItemResult> finished_;
    std::exception_ptr failure_;
};

} // namespace

void run_many(Executor& executor, Helpers& helpers, const std::function<std::optional<Value>()>& next,
              const std::function<void(ItemResult)>& done, const ManyOptions& options) {
    std::make_shared<Belt>(executor, next, done, options)->run(helpers);
}

} // namespace soma::exec

// SPDX-License-Identifier: Apache-2.0
#include "soma/driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pause.h"

namespace soma {

Driver::~Driver() = default;

namespace {

class SequentialDriver final : public Driver {
public:
    void run_wave(const Wave& wave) noexcept override {
        for (std::size_t branch = 0; branch < wave.branches; ++branch) wave.run(wave.context, branch);
    }
    [[nodiscard]] std::size_t jobs() const noexcept override { return 1; }
};

/// Held for a handful of instructions, so waiting for it never sleeps.
class SpinLock {
public:
    void lock() noexcept {
        while (held_.exchange(true, std::memory_order_acquire)) {
            while (held_.load(std::memory_order_relaxed)) exec::pause();
        }
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> held_{false};
};

struct Job;

/// The wave that a thread runs a branch of, and whose it is.
struct Working {
    const Driver* driver = nullptr;
    Job* job = nullptr;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Working working;

/// A wave that others may help with; on the stack of the thread that waits for it.
struct Job {
    Job(const Driver::Wave& w, const Driver& d)
        : wave(w), driver(d), owner(&working), outer(working.driver == &d ? working.job : nullptr) {}

    /// Bits of `state` that count helpers; those above count the waves that began within this one, so that the thread
    /// that sleeps on it wakes to help.
    static constexpr std::uint32_t helpers = 0xffff;
    static constexpr std::uint32_t news = helpers + 1;

    const Driver::Wave& wave;
    const Driver& driver;
    const Working* owner;             ///< an address of the thread's own
    Job* outer;                       ///< the wave that this one is within; it outlives this one
    std::atomic<std::size_t> next{0}; ///< branch to take
    std::atomic<std::uint32_t> state{0};
    std::uint64_t number = 0; ///< of all that were published; from 1
    Job* following = nullptr;

    [[nodiscard]] bool is_within(const Job& other) const noexcept {
        const Job* job = outer;
        while (job != nullptr && job != &other) job = job->outer;
        return job != nullptr;
    }
};

class ThreadDriver final : public Driver {
public:
    explicit ThreadDriver(std::size_t jobs) : jobs_(jobs) {}

    ~ThreadDriver() override {
        {
            const std::lock_guard guard(sleep_mutex_);
            ending_ = true;
        }
        wake_.notify_all();
        for (std::thread& worker : workers_) worker.join();
    }

    void run_wave(const Wave& wave) noexcept override {
        if (wave.branches < 2) {
            if (wave.branches == 1) wave.run(wave.context, 0);
            return;
        }
        start_workers();
        Job job(wave, *this);
        publish(job);
        work(job);
        wait(job);
    }

    [[nodiscard]] std::size_t jobs() const noexcept override { return jobs_; }

private:
    void start_workers() noexcept {
        if (started_.load(std::memory_order_acquire)) return;
        const std::lock_guard guard(sleep_mutex_);
        if (started_.load(std::memory_order_relaxed)) return;
        try {
            while (workers_.size() + 1 < jobs_) workers_.emplace_back([this] { serve(); });
        } catch (...) {
            // A system out of threads: the callers do all the work, the results are the same.
        }
        started_.store(true, std::memory_order_release);
    }

    void publish(Job& job) noexcept {
        {
            const std::lock_guard guard(jobs_lock_);
            job.number = ++published_;
            Job** end = &first_;
            while (*end != nullptr) end = &(*end)->following;
            *end = &job;
            oldest_.store(first_->number, std::memory_order_seq_cst);
        }
        for (Job* outer = job.outer; outer != nullptr; outer = outer->outer) {
            if (outer->owner == job.owner) continue;
            outer->state.fetch_add(Job::news, std::memory_order_release);
            outer->state.notify_one();
        }
        if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
        {
            // Passing through the mutex orders this after a worker's last look, so that no wake-up is lost.
            const std::lock_guard guard(sleep_mutex_);
        }
        if (job.wave.branches > 2) {
            wake_.notify_all();
        } else {
            wake_.notify_one();
        }
    }

    /// Runs branches until none is left to take. Who takes the last one takes the wave off the list, so that nobody looks
    /// there in vain.
    void work(Job& job) noexcept {
        const Working before = std::exchange(working, {this, &job});
        for (;;) {
            // Ordered after a helper's count of itself: who finds no branch left also finds who took the last one.
            const std::size_t branch = job.next.fetch_add(1, std::memory_order_acq_rel);
            if (branch >= job.wave.branches) break;
            if (branch + 1 == job.wave.branches) withdraw(job);
            job.wave.run(job.wave.context, branch);
        }
        working = before;
    }

    void withdraw(Job& job) noexcept {
        const std::lock_guard guard(jobs_lock_);
        Job** at = &first_;
        while (*at != &job) at = &(*at)->following;
        *at = job.following;
        oldest_.store(first_ == nullptr ? 0 : first_->number, std::memory_order_relaxed);
    }

    /// Waits until the helpers of a wave are done. Meanwhile the thread takes part in the waves that they began within
    /// it, which must end first, and in no other: it never runs what it does not wait for.
    void wait(Job& job) noexcept {
        std::uint32_t told = 0;
        for (int i = 0;;) {
            const std::uint32_t state = job.state.load(std::memory_order_acquire);
            if ((state & Job::helpers) == 0) return;
            if (const std::uint32_t news = state & ~Job::helpers; news != told) {
                if (!help(&job)) told = news;
                i = 0;
            } else if (i < exec::spins) {
                // Helpers that came are in their last branch: most end soon, so look before sleeping.
                ++i;
                exec::pause();
            } else if (i < exec::spins + yields) {
                // Being woken takes longer than many a branch still does; whoever needs the core has it meanwhile.
                ++i;
                std::this_thread::yield();
            } else {
                job.state.wait(state, std::memory_order_acquire);
            }
        }
    }

    /// Takes part in the oldest wave with a branch to take, of those within `outer` if it is given; false when there is
    /// none.
    bool help(const Job* outer = nullptr) noexcept {
        Job* job = nullptr;
        {
            const std::lock_guard guard(jobs_lock_);
            for (job = first_; job != nullptr; job = job->following) {
                if (outer == nullptr || job->is_within(*outer)) break;
            }
            if (job == nullptr) return false;
            job->state.fetch_add(1, std::memory_order_relaxed);
        }
        work(*job);
        // The job may be gone once the count falls; waking an address nobody waits on does nothing.
        std::atomic<std::uint32_t>& state = job->state;
        if ((state.fetch_sub(1, std::memory_order_acq_rel) & Job::helpers) == 1) state.notify_one();
        return true;
    }

    void serve() noexcept {
        Habit habit;
        for (;;) {
            if (look(habit)) continue;
            std::unique_lock guard(sleep_mutex_);
            sleepers_.fetch_add(1, std::memory_order_seq_cst);
            wake_.wait(guard, [this] { return ending_ || oldest_.load(std::memory_order_seq_cst) != 0; });
            sleepers_.fetch_sub(1, std::memory_order_relaxed);
            if (ending_) return;
        }
    }

    /// What a worker has learnt about the waves that it sees.
    struct Habit {
        bool eager = false;      ///< the last ones outlasted a moment's wait
        std::uint32_t waves = 0; ///< eager: since one was last waited for; else: that outlasted the wait, in a row
    };

    /// Looks for waves to help with; false when there was none for a while.
    ///
    /// A wave that is over sooner than another core can take part is slowed down by one that tries: branches of some
    /// hundred nanoseconds, and memory that goes from core to core for as long. Nothing about a wave tells beforehand, but
    /// waves come in kinds. So a worker lets a moment pass and helps when the wave is still there; after a few that were it
    /// helps at once, and lets the moment pass every so often, to see whether they still are.
    bool look(Habit& habit) noexcept {
        bool helped = false;
        for (auto last = Clock::now(); Clock::now() - last < patience;) {
            const std::uint64_t seen = oldest_.load(std::memory_order_acquire);
            if (seen != 0 && outlasts(seen, habit)) helped = help() || helped;
            if (seen != 0) last = Clock::now();
            if (habit.eager) {
                exec::pause();
            } else {
                rest();
            }
        }
        return helped;
    }

    bool outlasts(std::uint64_t wave, Habit& habit) noexcept {
        if (habit.eager && ++habit.waves < tested) return true;
        rest();
        const bool there = oldest_.load(std::memory_order_acquire) == wave;
        if (!there) {
            habit = {};
        } else if (habit.eager || ++habit.waves == convincing) {
            habit = {true, 0};
        }
        return there;
    }

    static void rest() noexcept {
        for (const auto end = Clock::now() + moment; Clock::now() < end;) exec::pause();
    }

    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds patience{50}; ///< without a wave, before a worker sleeps
    static constexpr std::chrono::microseconds moment{2};
    static constexpr std::uint32_t convincing = 4; ///< waves that outlasted a moment, in a row
    static constexpr std::uint32_t tested = 32;    ///< of so many waves one is waited for
    /// Some hundreds of microseconds when nobody else needs the core.
    static constexpr int yields = 1000;

    const std::size_t jobs_;
    // Side by side, as they go from core to core together.
    alignas(64) SpinLock jobs_lock_; ///< guards the list of jobs that have branches to take
    Job* first_ = nullptr;
    std::uint64_t published_ = 0;
    std::atomic<std::uint64_t> oldest_{0}; ///< the number of the first job in the list; 0: there is none
    alignas(64) std::atomic<std::uint32_t> sleepers_{0};
    std::atomic<bool> started_{false};
    std::mutex sleep_mutex_; ///< guards what follows
    std::condition_variable wake_;
    bool ending_ = false;
    std::vector<std::thread> workers_;
};

} // namespace

std::shared_ptr<Driver> sequential_driver() { return std::make_shared<SequentialDriver>(); }

std::shared_ptr<Driver> thread_driver(std::size_t jobs) {
    if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
    if (jobs == 1) return sequential_driver();
    return std::make_shared<ThreadDriver>(jobs);
}

} // namespace soma

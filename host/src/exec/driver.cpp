// SPDX-License-Identifier: Apache-2.0
#include "soma/driver.h"

#include <algorithm>
#include <atomic>
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
thread_local Working working;

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
    Job* following = nullptr;

    /// Runs branches until none is left to take.
    void work() noexcept {
        const Working before = std::exchange(working, {&driver, this});
        for (;;) {
            const std::size_t branch = next.fetch_add(1, std::memory_order_relaxed);
            if (branch >= wave.branches) break;
            wave.run(wave.context, branch);
        }
        working = before;
    }
    [[nodiscard]] bool exhausted() const noexcept { return next.load(std::memory_order_relaxed) >= wave.branches; }
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
        if (wave.branches == 1) {
            wave.run(wave.context, 0);
            return;
        }
        start_workers();
        Job job(wave, *this);
        publish(job);
        job.work();
        withdraw(job);
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
            Job** end = &first_;
            while (*end != nullptr) end = &(*end)->following;
            *end = &job;
        }
        waiting_jobs_.fetch_add(1, std::memory_order_seq_cst);
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

    void withdraw(Job& job) noexcept {
        waiting_jobs_.fetch_sub(1, std::memory_order_relaxed);
        const std::lock_guard guard(jobs_lock_);
        for (Job** at = &first_; *at != nullptr; at = &(*at)->following) {
            if (*at == &job) {
                *at = job.following;
                return;
            }
        }
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
            } else {
                job.state.wait(state, std::memory_order_acquire);
            }
        }
    }

    /// Takes part in the oldest wave with a branch to spare, of those within `outer` if it is given; false when there is
    /// none.
    bool help(const Job* outer = nullptr) noexcept {
        Job* job = nullptr;
        {
            const std::lock_guard guard(jobs_lock_);
            for (job = first_; job != nullptr; job = job->following) {
                if (!job->exhausted() && (outer == nullptr || job->is_within(*outer))) break;
            }
            if (job == nullptr) return false;
            job->state.fetch_add(1, std::memory_order_relaxed);
        }
        job->work();
        // The job may be gone once the count falls; waking an address nobody waits on does nothing.
        std::atomic<std::uint32_t>& state = job->state;
        if ((state.fetch_sub(1, std::memory_order_acq_rel) & Job::helpers) == 1) state.notify_one();
        return true;
    }

    void serve() noexcept {
        for (;;) {
            bool helped = false;
            for (int i = 0; i < exec::spins && !helped; ++i) {
                helped = waiting_jobs_.load(std::memory_order_acquire) > 0 && help();
                if (!helped) exec::pause();
            }
            if (helped) continue;
            std::unique_lock guard(sleep_mutex_);
            sleepers_.fetch_add(1, std::memory_order_seq_cst);
            wake_.wait(guard, [this] { return ending_ || has_work(); });
            sleepers_.fetch_sub(1, std::memory_order_relaxed);
            if (ending_) return;
        }
    }

    [[nodiscard]] bool has_work() noexcept {
        if (waiting_jobs_.load(std::memory_order_seq_cst) == 0) return false;
        const std::lock_guard guard(jobs_lock_);
        for (const Job* job = first_; job != nullptr; job = job->following) {
            if (!job->exhausted()) return true;
        }
        return false;
    }

    const std::size_t jobs_;
    SpinLock jobs_lock_; ///< guards the list of jobs
    Job* first_ = nullptr;
    std::atomic<std::uint32_t> waiting_jobs_{0};
    std::atomic<std::uint32_t> sleepers_{0};
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

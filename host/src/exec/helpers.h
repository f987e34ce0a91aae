// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace soma::exec {

/// Threads that an executor keeps for `run_many`: starting and joining one takes as long as a hundred short items.
///
/// [any thread]
class Helpers {
public:
    Helpers() = default;
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    /// Waits for the tasks under way.
    ~Helpers();

    /// Has so many threads run a task; they are there for it as long as the lease lives.
    class Lease {
    public:
        /// The task must not throw. It is begun at once, or within `patience`, which spares the caller to wake a thread that
        /// was needed a moment ago. Threads that lack are started; where the system has none left, fewer take part.
        Lease(Helpers& helpers, std::size_t count, const std::function<void()>& task, bool at_once);
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease();

    private:
        Helpers& helpers_;
        std::size_t count_;
    };

    static constexpr std::chrono::milliseconds patience{1};

    /// How long an item took when there were last many; negative: there were none yet.
    std::atomic<std::chrono::nanoseconds> usual{std::chrono::nanoseconds(-1)};

private:
    void hand_out(std::size_t count, const std::function<void()>& task, bool at_once);
    void serve();

    std::mutex mutex_; ///< guards what follows
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::size_t wanted_ = 0; ///< by the leases
    std::size_t asleep_ = 0; ///< threads that only a notice wakes
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

} // namespace soma::exec

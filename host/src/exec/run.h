// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "bound_node.h"
#include "failure.h"
#include "program.h"
#include "soma/detail/engine.h"
#include "soma/detail/run_context.h"
#include "soma/executor.h"
#include "store.h"
#include "thread_watch.h"

namespace soma::exec {

/// Why a run was asked to stop.
enum Stop : std::uint32_t { running = 0, cancelled = 1, timed_out = 2 };

/// One run of a program. Made once and used again: after the first run nothing here allocates.
class Run {
public:
    Run(const Program& program, const std::vector<BoundNode>& nodes, Driver& driver);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// The result; or none, and `failures()` says why. Ids in `options.keep` must be the plan's.
    Value execute(const Value& input, const RunOptions& options, std::uint64_t run_id);
    /// Ends the run at the next opportunity. From any thread, also when no run is under way.
    void stop(Stop why) noexcept { stop_.store(why, std::memory_order_relaxed); }
    /// Of the last `execute`: the one to throw first, then the others as written.
    [[nodiscard]] std::vector<Failure>& failures() noexcept { return failures_; }

private:
    struct WaveRun;
    /// What one thread knows while it works on a sequence.
    struct Frame {
        Frame* parent = nullptr;
        const WaveRun* wave = nullptr; ///< null at the root
        std::uint32_t branch = 0;
        std::int32_t intraop = 1;               ///< threads its operators may use
        std::int32_t intraop_before = 1;        ///< what the thread was set to when the branch began
        const detail::Engine* engine = nullptr; ///< null until the process has one
        /// The thread's state as every node finds it. A branch run in place has that of the sequence around it: all but
        /// the number of threads is the same there.
        const ThreadWatch* watch = nullptr;
        std::optional<ThreadWatch> own_watch;
    };

    bool sequence(std::uint32_t begin, std::uint32_t end, Frame& frame);
    [[gnu::always_inline]] inline bool guarded(std::uint32_t begin, std::uint32_t end, Frame& frame) noexcept;
    bool wave(const Program::Op& op, Frame& frame);
    // The way through an ordinary node: one function once compiled. What is rare is called.
    [[gnu::always_inline]] inline bool call(const Program::Op& op, Frame& frame);
    bool check_shared(const Program::Op& op);
    static void run_branch(void* context, std::size_t branch) noexcept;
    static void find_engine(Frame& frame);
    static std::int32_t share_of(std::int32_t threads, const WaveRun& wave) noexcept;
    static std::int32_t intraop_of(const Frame& frame, const detail::Engine& engine);
    bool lock(Instance& instance) const noexcept;
    static void unlock(Instance& instance) noexcept;

    [[nodiscard]] soma_value* take_list(std::uint32_t node);
    [[nodiscard]] Value lent_items(std::uint32_t node, soma_value* input) const;
    [[gnu::always_inline]] inline soma_status* forward(const Program::Op& op, const Frame& frame, soma_value* input,
                                                       soma_outcome& outcome);
    soma_status* forward_guarded(const Program::Op& op, const Frame& frame, soma_value* input, soma_outcome& outcome);
    [[gnu::always_inline]] inline soma_status* enter(const BoundNode& node, const soma_ctx& ctx, soma_value* input,
                                                     soma_outcome& outcome, const detail::Borrowed* borrowed) const;
    [[gnu::always_inline]] inline bool accept(const Program::Op& op, const Frame& frame, soma_value* input,
                                              soma_outcome& outcome, soma_status* status);
    bool accept_other(const Program::Op& op, soma_value* input, soma_outcome& outcome, soma_status* status);
    bool observe(const Program::Op& op, std::int64_t ns, bool accepted);
    void put_input(const Value& input);
    void show_result(std::uint32_t slot, soma_value* value);
    [[nodiscard]] std::uint64_t version_of(std::uint32_t slot) const;
    [[nodiscard]] static std::uint64_t version_of_all(soma_value* value, const detail::Engine& engine);
    [[nodiscard]] static bool must_stop(const Frame& frame) noexcept;
    [[nodiscard]] bool stopped() {
        return stop_.load(std::memory_order_relaxed) != running || (deadline_ns_ != 0 && overdue()) ||
               (outer_ != nullptr && stopped_outside());
    }
    bool overdue();
    [[nodiscard]] bool stopped_outside() const noexcept;
    bool fail(Failure failure);
    bool fail_stopped(const Program::Op& op, bool was_running);
    /// The op itself, or the first call of the wave that it is.
    [[nodiscard]] const Program::Op& first_call(const Program::Op& op) const noexcept;
    /// Failures are told in the order of the ops they belong to.
    [[nodiscard]] std::uint64_t order_of(const Program::Op& op) const noexcept {
        return 2 * static_cast<std::uint64_t>(&op - program_.ops.data());
    }
    [[nodiscard]] Value result();

    const Program& program_;
    const std::vector<BoundNode>& nodes_;
    Driver& driver_;
    Store store_;
    std::vector<detail::RunContext> contexts_;
    std::vector<std::uint64_t> versions_; ///< by shared value, as it was made

    const RunOptions* options_ = nullptr;
    std::atomic<std::uint32_t> stop_{running};
    std::int64_t deadline_ns_ = 0;
    std::uint64_t run_id_ = 0;
    std::uint64_t seed_ = 0;
    bool grad_ = false;
    bool training_ = false;
    bool observed_ = false;                  ///< somebody asked for more than the result
    const Run* outer_ = nullptr;             ///< the run whose node called `execute`; null when none did
    const detail::Borrowed* lent_ = nullptr; ///< what that node must not write to
    std::shared_ptr<void> state_;            ///< the caller's whole thread state, once a worker may need it
    std::vector<Value> kept_;
    std::vector<std::uint32_t> keep_slots_;
    std::mutex mutex_; ///< guards what is rarely written: failures, reports, kept values
    std::vector<Failure> failures_;
};

/// An address that differs between threads.
std::uintptr_t this_thread() noexcept;

} // namespace soma::exec

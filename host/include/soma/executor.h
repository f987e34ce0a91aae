// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "soma/driver.h"
#include "soma/export.h"
#include "soma/instance.h"
#include "soma/placement.h"
#include "soma/plan.h"
#include "soma/value.h"

namespace soma {

/// What one node did in a run; filled when asked for.
struct NodeReport {
    std::string node;                 ///< Its id.
    std::optional<Device> device;     ///< where it was told to run
    std::chrono::nanoseconds time{0}; ///< Spent in `forward`.
    std::string result;               ///< `summary` of what it returned; empty when it did not run
    bool ran = false;                 ///< Whether it returned a value.
};

/// How one run is to go.
struct RunOptions {
    bool training = false; ///< Handed to each node as `ctx.training`.
    /// Seeds every node's `ctx.seed`; nullopt: a fresh one a run.
    std::optional<std::uint64_t> seed;
    /// The run fails with `CancelledError` when it takes longer; the node that was running is named.
    std::optional<std::chrono::nanoseconds> timeout;
    /// Gets a report a node, in plan order, also when the run fails.
    std::vector<NodeReport>* report = nullptr;
    /// Ids whose values are kept after their last reader.
    std::vector<std::string> keep = {};
    /// Gets the kept values, in the order of `keep`.
    std::vector<Value>* kept = nullptr;
    /// Called after each node, from the thread that ran it.
    std::function<void(const std::string& node)> progress = {};
};

/// One item of `run_many`: its result, or why it has none.
struct ItemResult {
    std::size_t index = 0;    ///< from 0, in the order the items were given
    Value result;             ///< The graph's result; none when the item failed.
    std::exception_ptr error; ///< a `NodeError` or `CancelledError`; null when there is a result
};

/// How several items are run.
struct ManyOptions {
    /// Items under way at once: taken but not yet handed out. 0 counts as 1.
    std::size_t in_flight = 2;
    RunOptions run = {}; ///< `report`, `keep` and `kept` speak of one run and are not for many
};

/// Runs a plan over instances, each told where by the placement and held to it.
///
/// Safe to `run` from several threads at once; a node that is not re-entrant is entered by one at a time.
class SOMA_API Executor {
public:
    /// `instances` are bound to `plan.nodes` by position. A placement of an id the plan lacks is a `PlacementError`.
    Executor(Plan plan, std::vector<std::shared_ptr<Instance>> instances, Placement placement,
             std::shared_ptr<Driver> driver);
    Executor(Executor&&) noexcept;            ///< The moved one may only be destroyed.
    Executor& operator=(Executor&&) noexcept; ///< Likewise.
    ~Executor();

    /// One run. Before the first node every placement is checked against the machine: `PlacementError` lists them all.
    /// Throws the failure that a sequential run would give: `NodeError`, or `CancelledError`.
    Value run(const Value& input, const RunOptions& options = {});
    /// Runs many items, several at once, so that one is on the first device while the one before is on the second.
    ///
    /// `next` gives the items, nullopt at the end; `done` gets the results in the order of the items. Both are called by
    /// one thread at a time, not always the caller's. No more than `in_flight` items exist at once: when results are not
    /// taken, no more are asked for. An item that fails says so in its result and the others go on. What `next` or `done`
    /// throws ends it all and is thrown on. An item may use the share `threads / in_flight` of intra-op threads.
    /// The threads that it starts, one less than are in flight, are kept for the next call until the executor goes.
    void run_many(const std::function<std::optional<Value>()>& next, const std::function<void(ItemResult)>& done,
                  const ManyOptions& options = {});
    /// The runs under way end with `CancelledError` at each node's end, or sooner where a node asks.
    void cancel() noexcept;
    /// All failures of this thread's last `run`, the one thrown first.
    [[nodiscard]] std::vector<std::string> failures() const;

    /// Replaces the placement, between runs: state moves with the nodes that are placed anew.
    void place(Placement placement);
    [[nodiscard]] const Plan& plan() const noexcept;                                     ///< When.
    [[nodiscard]] const Placement& placement() const noexcept;                           ///< Where.
    [[nodiscard]] std::span<const std::shared_ptr<Instance>> instances() const noexcept; ///< Who, by node of the plan.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace soma

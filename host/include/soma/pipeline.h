// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soma/catalog.h"
#include "soma/executor.h"
#include "soma/wire.h"

namespace soma {

/// What a pipeline is made with.
struct PipelineOptions {
    std::size_t jobs = 0;   ///< branches at once; 0: one a core
    std::uint64_t seed = 0; ///< of the nodes' initial weights
};

/// Graph, catalog, placement and plan held together for a user.
class SOMA_API Pipeline {
public:
    /// Throws `GraphError`, `PlacementError` or `NodeError` (a node that could not be created).
    Pipeline(Graph graph, const Catalog& catalog, Placement placement = {}, const PipelineOptions& options = {});
    Pipeline(Pipeline&&) noexcept;            ///< The moved one may only be destroyed.
    Pipeline& operator=(Pipeline&&) noexcept; ///< Likewise.
    ~Pipeline();

    /// See `Executor::run`.
    Value run(const Value& input, const RunOptions& options = {});
    /// See `Executor::run_many`.
    void run_many(const std::function<std::optional<Value>()>& next, const std::function<void(ItemResult)>& done,
                  const ManyOptions& options = {});
    /// See `Executor::cancel`.
    void cancel() noexcept;
    /// See `Executor::failures`.
    [[nodiscard]] std::vector<std::string> failures() const;

    /// The one door to the placement: validates id (nearest offered: `PlacementError`) and device (`DeviceError`).
    void place(std::string_view id, std::string_view device);
    void place(std::string_view id, Device device); ///< By id; validated.
    void unplace(std::string_view id);              ///< It stays where it is.
    /// id → device, of the placed ones.
    [[nodiscard]] std::map<std::string, std::string> devices() const;
    [[nodiscard]] const Placement& placement() const noexcept; ///< Where.

    [[nodiscard]] const Graph& graph() const noexcept; ///< What.
    [[nodiscard]] const Plan& plan() const noexcept;   ///< When.
    /// Ids, in the order written.
    [[nodiscard]] std::vector<std::string> nodes() const;
    /// The instance bound to an id; an unknown one is a `GraphError` that offers the nearest.
    [[nodiscard]] Instance& instance(std::string_view id) const;

    /// Every parameter of every node, named `id.name`, in the order written. They stay valid when a node moves between
    /// devices that hold data.
    [[nodiscard]] std::vector<State> parameters() const;
    /// Parameters and buffers.
    [[nodiscard]] std::vector<State> state() const;
    /// Training mode of the runs that follow; `RunOptions::training` turns it on for one run.
    void train(bool on = true) noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Builds, plans and binds: the way from a wire to something that runs.
SOMA_API Pipeline somatize(const Wire& wire, const Catalog& catalog, const PipelineOptions& options = {});
/// The same from wire text.
SOMA_API Pipeline somatize(std::string_view text, const Catalog& catalog, const PipelineOptions& options = {});

} // namespace soma

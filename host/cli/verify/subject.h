// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "soma/catalog.h"
#include "soma/pipeline.h"
#include "verify/inputs.h"
#include "verify/machine.h"
#include "verify/reporter.h"

namespace soma::cli::verify {

/// A node returned something that is not where it was told to run. The message is the host's.
class Misplaced : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A node type under check: makes nodes of it and runs them, and says before each what it tries.
class Subject {
public:
    Subject(const Catalog& catalog, std::shared_ptr<const NodeType> type, const Machine& machine, Reporter& report);

    [[nodiscard]] const NodeType& type() const noexcept { return *type_; }
    [[nodiscard]] const Machine& machine() const noexcept { return machine_; }
    [[nodiscard]] const Findings& findings() const noexcept { return report_.findings(); }
    /// The configuration that the node is known to take; the type's own check found it.
    [[nodiscard]] const Value& config() const noexcept { return config_; }
    void set_config(Value config);
    /// What it runs on, made anew. Throws where there is none.
    [[nodiscard]] Value input() const;
    void set_input(Input input) { input_ = std::move(input); }
    [[nodiscard]] const std::optional<Input>& chosen_input() const noexcept { return input_; }

    void step(const std::string& doing) const { report_.step(doing); }
    /// Makes the node by itself and lets it go; `what` says what of the configuration matters. Throws `GraphError` or
    /// `NodeError`.
    void create(const Value& config, std::optional<Device> device, const std::string& what = {}) const;
    /// A pipeline of the one node. Throws the same.
    [[nodiscard]] Pipeline pipeline(std::optional<Device> device = std::nullopt) const;
    [[nodiscard]] Pipeline pipeline(const Value& config, std::optional<Device> device) const;
    /// That it returns its input itself, not something made of it: such a node cannot move it, only claim that it is where
    /// it ought to be. It is run on what is there already.
    void set_returns_input(bool does) { returns_input_ = does; }
    /// Runs it, on its input unless told otherwise. Throws `Misplaced`, else `NodeError`.
    Value run(Pipeline& pipeline) const;
    Value run(Pipeline& pipeline, const Value& input, std::uint64_t seed = 1) const;
    /// Places it elsewhere.
    void place(Pipeline& pipeline, const Device& device) const;
    /// The pipeline's one node.
    [[nodiscard]] Instance& node(const Pipeline& pipeline) const { return pipeline.instance(id_); }

    /// Whether the check passed; a check not yet made has not.
    [[nodiscard]] bool passed(std::string_view check) const;

private:
    Value run_once(Pipeline& pipeline, const Value& input, std::uint64_t seed) const;

    const Catalog& catalog_;
    std::shared_ptr<const NodeType> type_;
    const Machine& machine_;
    Reporter& report_;
    std::string id_;
    Value config_;
    std::optional<Input> input_;
    bool returns_input_ = false;
};

/// "on `cuda:0`", or "unplaced".
std::string placed_text(const std::optional<Device>& device);

} // namespace soma::cli::verify

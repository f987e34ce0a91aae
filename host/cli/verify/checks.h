// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "verify/findings.h"
#include "verify/subject.h"

namespace soma::cli::verify {

/// One check of a node type. What it throws is a failure.
struct NodeCheck {
    std::string_view name;
    Outcome (*run)(Subject& subject);
    /// Another check that must have passed, else this one says nothing about the node; empty for none.
    std::string_view after = {};
    /// How it is said that it had not: "it could not be created".
    std::string_view otherwise = {};
};

/// All of them, in their order.
std::span<const NodeCheck> node_checks();

// checks_make.cpp
Outcome check_description(Subject& subject);
Outcome check_defaults(Subject& subject);
Outcome check_configurations(Subject& subject);
Outcome check_wrong_configuration(Subject& subject);

// checks_run.cpp
Outcome check_runs_unplaced(Subject& subject);
Outcome check_same_twice(Subject& subject);
Outcome check_input_unmodified(Subject& subject);
Outcome check_wrong_input(Subject& subject);
Outcome check_two_threads(Subject& subject);
Outcome check_handles(Subject& subject);

// checks_place.cpp
Outcome check_runs_on_cpu(Subject& subject);
Outcome check_runs_on_meta(Subject& subject);
Outcome check_runs_on_cuda_0(Subject& subject);
Outcome check_runs_on_cuda_1(Subject& subject);
Outcome check_there_and_back(Subject& subject);
Outcome check_obeys(Subject& subject);

// gradients.cpp
Outcome check_gradients(Subject& subject);

} // namespace soma::cli::verify

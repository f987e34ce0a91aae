// SPDX-License-Identifier: Apache-2.0
#include "verify/checks.h"

#include <array>

namespace soma::cli::verify {

namespace {

constexpr std::string_view runs = "runs unplaced";
constexpr std::string_view no_run = "it did not run unplaced";
constexpr std::string_view twice = "same result twice";
constexpr std::string_view no_twice = "its result differs from run to run";

constexpr std::array all{
    NodeCheck{"description", check_description},
    NodeCheck{"defaults", check_defaults},
    NodeCheck{"configurations", check_configurations, "defaults", "it could not be created"},
    NodeCheck{"wrong configuration", check_wrong_configuration, "defaults", "it could not be created"},
    NodeCheck{runs, check_runs_unplaced, "defaults", "it could not be created"},
    NodeCheck{twice, check_same_twice, runs, no_run},
    NodeCheck{"input unmodified", check_input_unmodified, runs, no_run},
    NodeCheck{"wrong input", check_wrong_input, runs, no_run},
    NodeCheck{"runs on cpu", check_runs_on_cpu, runs, no_run},
    NodeCheck{"runs on meta", check_runs_on_meta, runs, no_run},
    NodeCheck{"runs on cuda:0", check_runs_on_cuda_0, runs, no_run},
    NodeCheck{"runs on cuda:1", check_runs_on_cuda_1, runs, no_run},
    NodeCheck{"handles released", check_handles, runs, no_run},
    NodeCheck{"there and back", check_there_and_back, runs, no_run},
    NodeCheck{"obeys", check_obeys, runs, no_run},
    NodeCheck{"two threads", check_two_threads, twice, no_twice},
    NodeCheck{"gradients", check_gradients, twice, no_twice},
};

} // namespace

std::span<const NodeCheck> node_checks() { return all; }

} // namespace soma::cli::verify

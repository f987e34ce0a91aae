// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "soma/detail/engine.h"
#include "soma/device.h"

namespace soma::cli::verify {

/// What there is to check on.
struct Machine {
    const detail::Engine* engine = nullptr;
    std::string no_engine;    ///< why there is none
    std::vector<Device> cuda; ///< at most two of them
    std::string no_cuda;      ///< why there are fewer than two
    bool simulated = false;

    /// Has two CUDA devices simulated where there are no real ones, and loads the tensor library. Call it before anything
    /// else uses that.
    static Machine find();
};

} // namespace soma::cli::verify

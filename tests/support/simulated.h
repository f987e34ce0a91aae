// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "soma/error.h"
#include "soma/machine.h"
#include "support/catch.h"

namespace soma::test {

/// Two simulated GPUs, from here to the end of the process. Skips where there are real ones.
inline void two_gpus() {
    try {
        simulate_cuda(2);
    } catch (const EngineError& error) {
        if (visible_devices(DeviceKind::cuda).empty()) throw;
        soma_skip(error.what());
    }
    REQUIRE(simulated_cuda() == 2);
}

} // namespace soma::test

// SPDX-License-Identifier: Apache-2.0
#include "verify/machine.h"

#include "soma/error.h"
#include "soma/machine.h"

namespace soma::cli::verify {

namespace {

constexpr unsigned wanted = 2;

} // namespace

Machine Machine::find() {
    Machine machine;
    std::string not_simulated;
    try {
        simulate_cuda(wanted);
        machine.simulated = true;
    } catch (const EngineError& error) {
        not_simulated = error.what();
    }
    try {
        machine.engine = &detail::require_engine();
        machine.cuda = visible_devices(DeviceKind::cuda);
    } catch (const EngineError& error) {
        machine.engine = nullptr;
        machine.no_engine = error.what();
        machine.no_cuda = error.what();
        return machine;
    }
    if (machine.cuda.size() > wanted) machine.cuda.resize(wanted, Device(DeviceKind::cpu));
    if (machine.cuda.size() < wanted) machine.no_cuda = not_simulated;
    return machine;
}

} // namespace soma::cli::verify

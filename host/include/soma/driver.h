// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "soma/export.h"

namespace soma {

/// How the branches of a wave are run: in place, or on threads. One driver serves any number of executors and runs.
class SOMA_API Driver {
public:
    virtual ~Driver();

    /// A wave under way: `run(context, branch)` runs one branch whole. It never throws.
    struct Wave {
        void (*run)(void* context, std::size_t branch) noexcept; ///< Runs one branch whole.
        void* context;                                           ///< Handed to `run`.
        std::size_t branches;                                    ///< How many there are.
    };
    /// Runs every branch once and returns when all are done. Branches start in the order written; the calling thread works
    /// too, so that waves nest without deadlock whatever the number of threads. A thread of the driver's own does nothing
    /// between two branches that changes its tensor library's state (grad mode, devices): the next one counts on it.
    virtual void run_wave(const Wave& wave) noexcept = 0;
    /// Greatest number of branches run at once, the caller's included.
    [[nodiscard]] virtual std::size_t jobs() const noexcept = 0;
};

/// Every branch in the order written, on the calling thread.
SOMA_API std::shared_ptr<Driver> sequential_driver();
/// `jobs` threads, the caller's among them; 0 means one a core. Workers start with the first wave, spin briefly for the
/// next, then sleep; they are joined when the driver goes. One job is the sequential driver.
SOMA_API std::shared_ptr<Driver> thread_driver(std::size_t jobs = 0);

} // namespace soma

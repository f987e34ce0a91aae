// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.h"

namespace soma::detail {

soma_host* program_host() noexcept {
    // Values may outlive every static variable.
    static soma_host* const host = [] {
        auto made = std::make_unique<soma_host>();
        made->name = "program";
        return made.release();
    }();
    return host;
}

} // namespace soma::detail

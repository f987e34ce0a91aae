// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "soma/export.h"

namespace soma::detail {

/// While one lives, the process knows which handles and statuses were made since and are not freed yet, whichever thread
/// or plugin made them. For conformance checks: making and freeing a handle takes a lock meanwhile. One at a time.
class SOMA_API HandleWatch {
public:
    HandleWatch();
    HandleWatch(const HandleWatch&) = delete;
    HandleWatch& operator=(const HandleWatch&) = delete;
    ~HandleWatch();

    /// How many are left.
    struct Left {
        std::map<std::uint32_t, std::size_t> handles; ///< by SOMA_KIND_…; no entry where there is none
        std::size_t statuses = 0;
    };
    [[nodiscard]] static Left left();
};

} // namespace soma::detail

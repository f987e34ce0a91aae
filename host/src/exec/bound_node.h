// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "soma/abi.h"
#include "soma/device.h"
#include "soma/instance.h"

namespace soma::exec {

/// An instance made ready to be called: all that a forward needs, without a look-up.
struct BoundNode {
    // What every call reads comes first, side by side.
    soma_status* (*forward)(void*, const soma_ctx*, soma_value*, soma_outcome*) = nullptr;
    void* self = nullptr;
    std::uint64_t seed_salt = 0;
    soma_place place{SOMA_DEVICE_NONE, 0};
    bool placed = false;
    bool reentrant = false;
    bool has_stream = false; ///< its device has streams and a current index
    bool has_backward = false;
    bool links_engine = true; ///< its code can reach the tensor library by itself

    std::shared_ptr<Instance> instance; ///< runs; on meta a fresh one with meta parameters
    std::optional<Device> device;
    std::string device_text; ///< what ctx.device points to
};

} // namespace soma::exec

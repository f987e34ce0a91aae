// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <c10/core/Device.h>

#include "soma/abi.h"

namespace soma::detail {

/// A libtorch device in the interface's numbers. A kind without an index has index 0, so that equal places compare equal
/// (`mps` is `mps:0`). A kind that cannot be declared is SOMA_DEVICE_OTHER with its type and index packed into `index`.
soma_place to_place(c10::Device device) noexcept;

/// The other way round; nullopt for SOMA_DEVICE_NONE and for numbers that are none.
std::optional<c10::Device> to_device(soma_place place) noexcept;

/// As libtorch writes it: "cuda:0", "cpu", "privateuseone:0"; "nowhere" for none. NUL-terminated, lives for ever.
std::string_view place_name(soma_place place);

/// From text: what can be declared, and what a tensor was said to be on. Throws `DeviceError`.
c10::Device parse_device(std::string_view text);

inline bool same_place(soma_place a, soma_place b) noexcept { return a.kind == b.kind && a.index == b.index; }

} // namespace soma::detail

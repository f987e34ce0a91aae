// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soma/abi.h"
#include "soma/export.h"

namespace soma {

/// The kinds of device a node can be told to run on: a closed set. The numbers are the ABI's.
enum class DeviceKind : std::int32_t {
    cpu = SOMA_DEVICE_CPU,
    cuda = SOMA_DEVICE_CUDA,
    meta = SOMA_DEVICE_META,
    xpu = SOMA_DEVICE_XPU,
    mps = SOMA_DEVICE_MPS,
    hpu = SOMA_DEVICE_HPU,
};

/// "cpu", "cuda", …
SOMA_API std::string_view to_string(DeviceKind kind) noexcept;
/// Whether devices of the kind are numbered.
SOMA_API bool has_index(DeviceKind kind) noexcept;
/// Every kind, in the order declared.
SOMA_API std::vector<DeviceKind> device_kinds();

/// A device as a node is told it: `cpu`, `cuda:0`, `meta`, …; written exactly the way torch writes it.
///
/// Never defaulted, never guessed: a kind with an index always carries one. A value; cheap to copy and compare.
class SOMA_API Device {
public:
    /// Throws `DeviceError` when the kind wants an index and none is given, or the other way round, or when it is not
    /// 0 to 127.
    explicit Device(DeviceKind kind, std::optional<int> index = std::nullopt);
    /// Reads a device; the round trip with `str()` is exact. Throws `DeviceError` that says what is wrong and the mend.
    static Device parse(std::string_view text);
    /// From the ABI's numbers; nullopt when it is no device that can be declared (none, other). Where a kind has no index
    /// it does not count: `mps` and `mps:0` are one place.
    static std::optional<Device> from_place(soma_place place) noexcept;

    [[nodiscard]] DeviceKind kind() const noexcept { return kind_; } ///< Which kind of device.
    /// 0 where the kind has no index.
    [[nodiscard]] int index() const noexcept { return index_; }
    [[nodiscard]] std::string str() const; ///< As torch writes it: "cuda:0".
    /// In the interface's numbers.
    [[nodiscard]] soma_place place() const noexcept { return {static_cast<std::int32_t>(kind_), index_}; }

    friend auto operator<=>(const Device&, const Device&) = default; ///< By kind, then by index.

private:
    DeviceKind kind_;
    std::int32_t index_ = 0;
};

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "soma/device.h"
#include "soma/export.h"

namespace soma {

/// Where: node id → device. A value of its own: it knows no graph and travels alone.
///
/// A node that is not in it is unplaced, which is not "on cpu": it runs wherever its input already is.
class SOMA_API Placement {
public:
    Placement() = default;
    /// Reads a JSON object {"id": "device", …}; throws `PlacementError` naming the id whose device is wrong.
    static Placement from_json(std::string_view text);
    [[nodiscard]] std::string to_json() const; ///< An object, id to device.

    /// Places a node; what was said of it before is replaced.
    void place(std::string_view id, Device device);
    /// Makes a node unplaced again; nothing happens if it was.
    void unplace(std::string_view id);
    [[nodiscard]] std::optional<Device> of(std::string_view id) const;          ///< Nothing when unplaced.
    [[nodiscard]] bool empty() const noexcept { return devices_.empty(); }      ///< Nothing is placed.
    [[nodiscard]] std::size_t size() const noexcept { return devices_.size(); } ///< How many are placed.
    /// Everything `other` says is said here too; where both speak of a node, `other` wins.
    void merge(const Placement& other);

    /// By id, in the order of ids.
    [[nodiscard]] auto begin() const noexcept { return devices_.begin(); }
    [[nodiscard]] auto end() const noexcept { return devices_.end(); } ///< Past the last.

    friend bool operator==(const Placement&, const Placement&) = default; ///< Same ids, same devices.

private:
    std::map<std::string, Device, std::less<>> devices_;
};

} // namespace soma

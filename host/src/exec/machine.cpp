// SPDX-License-Identifier: Apache-2.0
#include "soma/machine.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "soma/detail/engine.h"
#include "soma/detail/missing.h"
#include "soma/error.h"

namespace soma {
namespace {

std::uint32_t count_of(DeviceKind kind) {
    // The core knows this one without asking; a graph that stays on the cpu needs no tensor library to be checked.
    if (kind == DeviceKind::cpu) return 1;
    return detail::require_engine().device_count(static_cast<std::int32_t>(kind));
}

std::string why_not(DeviceKind kind, std::uint32_t count) {
    const detail::Engine& engine = detail::require_engine();
    if (!engine.has_backend(static_cast<std::int32_t>(kind))) {
        return fmt::format("{} was built without `{}`", engine.library, to_string(kind));
    }
    const std::string_view how = kind == DeviceKind::cuda && simulated_cuda() > 0 ? "simulated " : "";
    if (count == 0) return fmt::format("this machine has no `{}` device", to_string(kind));
    if (count == 1) return fmt::format("this machine has 1 {0}`{1}` device, `{1}:0`", how, to_string(kind));
    return fmt::format("this machine has {0} {1}`{2}` devices, `{2}:0` to `{2}:{3}`", count, how, to_string(kind),
                       count - 1);
}

} // namespace

std::vector<Device> visible_devices(DeviceKind kind) {
    std::vector<Device> devices;
    const std::uint32_t count = count_of(kind);
    for (std::uint32_t index = 0; index < count; ++index) {
        if (!has_index(kind)) return {Device(kind)};
        devices.emplace_back(kind, static_cast<int>(index));
    }
    return devices;
}

std::optional<std::string> detail::why_missing(Device device) {
    const std::uint32_t count = count_of(device.kind());
    if (static_cast<std::uint32_t>(device.index()) < count) return std::nullopt;
    return why_not(device.kind(), count);
}

std::optional<std::string> detail::missing_devices(const Placement& placement) {
    std::vector<std::string> missing;
    std::map<DeviceKind, std::string> reasons;
    for (const auto& [id, device] : placement) {
        auto why = why_missing(device);
        if (!why) continue;
        missing.push_back(fmt::format("`{}` on `{}`", id, device.str()));
        reasons.try_emplace(device.kind(), std::move(*why));
    }
    if (missing.empty()) return std::nullopt;
    std::string text = missing.size() == 1
                           ? "1 node is placed on a device that is not here: "
                           : fmt::format("{} nodes are placed on devices that are not here: ", missing.size());
    text += fmt::format("{}.", fmt::join(missing, ", "));
    for (const auto& [kind, reason] : reasons) text += ' ' + reason + '.';
    return text + (missing.size() == 1 ? " Place it elsewhere" : " Place them elsewhere");
}

void preflight(const Placement& placement) {
    if (const auto missing = detail::missing_devices(placement)) {
        throw PlacementError(*missing + "; nothing was run");
    }
}

} // namespace soma

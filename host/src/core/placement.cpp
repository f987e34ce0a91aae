// SPDX-License-Identifier: Apache-2.0
#include "soma/placement.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/quote.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/value.h"

namespace soma {

namespace {

constexpr std::string_view shape = R"(a placement is an object such as {"encoder": "cuda:0"})";

Value read(std::string_view text) {
    try {
        return parse_json(text);
    } catch (const ValueError& error) {
        throw PlacementError(fmt::format("the placement cannot be read: {}", error.what()));
    }
}

} // namespace

Placement Placement::from_json(std::string_view text) {
    const Value value = read(text);
    if (value.kind() != Kind::dict) {
        throw PlacementError(
            fmt::format("the placement cannot be read: it is of kind {}, but {}", to_string(value.kind()), shape));
    }
    Placement placement;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const std::string_view id = value.key(i);
        const Value& device = value.at(i);
        if (device.kind() != Kind::string) {
            throw PlacementError(fmt::format(R"(the placement of {} is of kind {}, not a text such as "cuda:0")",
                                             detail::quoted(id), to_string(device.kind())));
        }
        try {
            placement.place(id, Device::parse(device.as_string()));
        } catch (const DeviceError& error) {
            throw PlacementError(fmt::format("the placement of {} is wrong: {}", detail::quoted(id), error.what()));
        }
    }
    return placement;
}

std::string Placement::to_json() const {
    std::vector<std::pair<std::string, Value>> entries;
    entries.reserve(devices_.size());
    for (const auto& [id, device] : devices_) entries.emplace_back(id, device.str());
    return soma::to_json(Value::dict(std::move(entries)));
}

void Placement::place(std::string_view id, Device device) {
    if (const auto found = devices_.find(id); found != devices_.end()) {
        found->second = device;
    } else {
        devices_.emplace(id, device);
    }
}

void Placement::unplace(std::string_view id) {
    if (const auto found = devices_.find(id); found != devices_.end()) devices_.erase(found);
}

std::optional<Device> Placement::of(std::string_view id) const {
    const auto found = devices_.find(id);
    return found == devices_.end() ? std::nullopt : std::optional<Device>(found->second);
}

void Placement::merge(const Placement& other) {
    for (const auto& [id, device] : other) place(id, device);
}

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#include "core/engine_text.h"

#include <array>
#include <optional>

#include "core/status_guard.h"
#include "soma/detail/engine.h"
#include "soma/detail/opaque.h"
#include "soma/detail/value_rep.h"
#include "soma/device.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

std::string text_of(soma_place place) {
    if (place.kind == SOMA_DEVICE_NONE) return {};
    std::array<char, 64> buffer;
    const std::uint64_t size = require_engine().place_text(place, buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(size)};
}

} // namespace

std::string place_text(const Value& value) {
    const soma_value* handle = value.handle();
    if (value.kind() == Kind::opaque) {
        soma_place place{};
        try {
            place = opaque_place(handle);
        } catch (const ValueError&) {
            return {}; // a text about a value does not fail because its plugin does
        }
        const std::optional<Device> device = Device::from_place(place);
        return device ? device->str() : text_of(place);
    }
    if (value.kind() == Kind::tensor) {
        // Not through the numbers: a device that cannot be declared has a name and no number.
        soma_tensor_info info{};
        info.struct_size = sizeof info;
        throw_value_error(require_engine().info(handle->payload, &info));
        return {info.device.data, static_cast<std::size_t>(info.device.size)};
    }
    return text_of(require_engine().place(handle->kind, handle->payload));
}

std::string shape_text(const Value& tensor) {
    std::array<char, 256> buffer;
    const std::uint64_t size = require_engine().shape_text(tensor.handle()->payload, buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(size)};
}

TensorText tensor_text(const Value& tensor) {
    const Engine& engine = require_engine();
    soma_tensor_info info{};
    info.struct_size = sizeof info;
    throw_value_error(engine.info(tensor.handle()->payload, &info));
    TensorText text;
    text.dtype.assign(info.dtype.data, info.dtype.size);
    text.device.assign(info.device.data, info.device.size);
    text.has_data = info.place.kind != SOMA_DEVICE_META;
    if (!text.has_data) {
        std::vector<Value> sizes;
        for (std::uint32_t i = 0; i < info.ndim; ++i) sizes.emplace_back(info.sizes[i]);
        text.shape = Value::list(std::move(sizes));
        return text;
    }
    soma_value* elements = nullptr;
    throw_value_error(engine.to_nested(tensor.handle()->payload, &elements));
    text.elements = Value::adopt(elements);
    return text;
}

} // namespace soma::detail

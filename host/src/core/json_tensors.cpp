// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include "core/rebuild.h"
#include "core/status_guard.h"
#include "soma/detail/engine.h"
#include "soma/device.h"
#include "soma/json.h"

namespace soma {

namespace {

Value make_tensor(const Value& object) {
    soma_string dtype{nullptr, 0};
    std::optional<Device> device;
    for (std::size_t i = 0; i < object.size(); ++i) {
        const std::string_view key = object.key(i);
        if (key == "dtype") {
            const std::string_view text = object.at(i).as_string();
            dtype = {text.data(), text.size()};
        } else if (key == "device") {
            device = Device::parse(object.at(i).as_string());
        } else if (key != "tensor") {
            throw ValueError(
                fmt::format("an object with the key `tensor` is a tensor and may have `dtype` and `device` "
                            "besides, but this one has `{}`",
                            key));
        }
    }
    const detail::Engine& engine = detail::require_engine();
    soma_value* made = nullptr;
    detail::throw_value_error(engine.from_nested(object.find("tensor")->handle(), dtype, &made));
    Value tensor = Value::adopt(made);
    if (!device || device->kind() == DeviceKind::cpu) return tensor;
    made = nullptr;
    detail::throw_value_error(engine.to(tensor.handle(), device->place(), &made));
    return Value::adopt(made);
}

} // namespace

Value tensors_from_json(const Value& value) {
    return detail::rebuild(value, [](const Value& part) -> std::optional<Value> {
        if (part.find("tensor") == nullptr) return std::nullopt;
        return make_tensor(part);
    });
}

} // namespace soma

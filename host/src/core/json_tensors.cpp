// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/json_depth.h"
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

Value convert(const Value& value, std::size_t depth) {
    if (value.kind() != Kind::list && value.kind() != Kind::dict) return value;
    if (depth == detail::deepest_json) {
        throw ValueError(fmt::format("the value is nested deeper than {} levels", detail::deepest_json));
    }
    if (value.kind() == Kind::dict && value.find("tensor") != nullptr) return make_tensor(value);
    bool changed = false;
    std::vector<Value> items;
    items.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
        items.push_back(convert(value.at(i), depth + 1));
        changed = changed || items.back().handle() != value.at(i).handle();
    }
    if (!changed) return value;
    if (value.kind() == Kind::list) return Value::list(std::move(items));
    std::vector<std::pair<std::string, Value>> entries;
    entries.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) entries.emplace_back(value.key(i), std::move(items[i]));
    return Value::dict(std::move(entries));
}

} // namespace

Value tensors_from_json(const Value& value) { return convert(value, 0); }

} // namespace soma

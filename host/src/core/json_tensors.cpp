// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/quote.h"
#include "core/status_guard.h"
#include "soma/detail/engine.h"
#include "soma/detail/missing.h"
#include "soma/detail/rebuild.h"
#include "soma/device.h"
#include "soma/error.h"
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
    if (const auto why = detail::why_missing(*device)) {
        throw DeviceError(fmt::format("a tensor is to be on `{}`, which is not here: {}", device->str(), *why));
    }
    made = nullptr;
    detail::throw_value_error(engine.to(tensor.handle(), device->place(), &made));
    return Value::adopt(made);
}

/// What base64 stands for: four digits for three bytes, with `=` in the place of those that are missing at the end.
Value make_bytes(std::string_view text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string_view rest = text;
    while (text.size() - rest.size() < 2 && rest.ends_with('=')) rest.remove_suffix(1);
    std::vector<std::byte> bytes;
    std::uint32_t group = 0;
    bool good = text.size() % 4 == 0;
    for (std::size_t i = 0; good && i < rest.size(); ++i) {
        const std::size_t digit = digits.find(rest[i]);
        good = digit != std::string_view::npos;
        group = group << 6U | static_cast<std::uint32_t>(digit);
        // The bits that are left over are those of the bytes to come.
        if (i % 4 != 0) bytes.push_back(static_cast<std::byte>(group >> (6 - 2 * (i % 4)) & 0xffU));
    }
    if (!good) {
        throw ValueError(
            fmt::format("an object with the key `bytes` alone is bytes, but {} is not base64", detail::quoted(text)));
    }
    return Value::bytes(bytes);
}

} // namespace

Value tensors_from_json(const Value& value) {
    return detail::rebuild(value, [](const Value& part) -> std::optional<Value> {
        if (part.find("tensor") != nullptr) return make_tensor(part);
        const Value* bytes = part.size() == 1 ? part.find("bytes") : nullptr;
        if (bytes == nullptr || bytes->kind() != Kind::string) return std::nullopt;
        return make_bytes(bytes->as_string());
    });
}

} // namespace soma

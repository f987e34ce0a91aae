// SPDX-License-Identifier: Apache-2.0
#include "verify/tensors.h"

#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "soma/detail/engine.h"
#include "soma/detail/rebuild.h"
#include "soma/detail/status.h"
#include "soma/detail/value_rep.h"
#include "soma/error.h"

namespace soma::cli::verify {

namespace {

soma_string text(std::string_view view) { return {view.data(), view.size()}; }

void collect(const Value& value, std::vector<Value>& out) {
    if (value.kind() == Kind::tensor) {
        out.push_back(value);
        return;
    }
    if (value.kind() != Kind::list && value.kind() != Kind::dict) return;
    for (std::size_t i = 0; i < value.size(); ++i) collect(value.at(i), out);
}

Value nested(std::span<const double> elements, std::span<const std::int64_t> shape) {
    if (shape.empty()) return elements.front();
    std::vector<Value> items;
    const auto count = static_cast<std::size_t>(shape.front());
    const std::size_t each = count == 0 ? 0 : elements.size() / count;
    items.reserve(count);
    for (std::size_t i = 0; i < count; ++i) items.push_back(nested(elements.subspan(i * each, each), shape.subspan(1)));
    return Value::list(std::move(items));
}

} // namespace

void check(soma_status* status) {
    if (status == nullptr) return;
    const std::string why = detail::full_message(status);
    detail::release_status(status);
    throw ValueError(why);
}

Value call_operator(const char* name, const char* overload, std::initializer_list<Value> arguments) {
    const detail::Engine& engine = detail::require_engine();
    const soma_operator* op = nullptr;
    check(engine.op_find(text(name), text(overload), &op));
    std::vector<soma_value*> handles;
    for (const Value& argument : arguments) handles.push_back(argument.handle());
    soma_value* result = nullptr;
    soma_call call{};
    call.struct_size = sizeof call;
    call.args = handles.data();
    call.arg_count = static_cast<std::uint32_t>(handles.size());
    call.results = &result;
    call.result_capacity = 1;
    check(engine.op_call(op, &call));
    return Value::adopt(result);
}

soma_tensor_info info_of(const Value& tensor) {
    soma_tensor_info info{};
    info.struct_size = sizeof info;
    check(detail::require_engine().info(tensor.handle()->payload, &info));
    return info;
}

std::vector<std::int64_t> shape_of(const Value& tensor) {
    const soma_tensor_info info = info_of(tensor);
    return {info.sizes, info.sizes + info.ndim};
}

std::string_view dtype_of(const Value& tensor) {
    const soma_string dtype = info_of(tensor).dtype;
    return {dtype.data, static_cast<std::size_t>(dtype.size)};
}

bool is_float(const Value& tensor) { return dtype_of(tensor) == "float32" || dtype_of(tensor) == "float64"; }

std::string place_of(const Value& tensor) {
    const soma_string device = info_of(tensor).device;
    return {device.data, static_cast<std::size_t>(device.size)};
}

std::vector<double> elements_of(const Value& tensor) {
    const detail::Engine& engine = detail::require_engine();
    soma_value* here = nullptr;
    check(engine.to(call_operator("aten::detach", "", {tensor}).handle(), {SOMA_DEVICE_CPU, 0}, &here));
    const Value plain = call_operator("aten::contiguous", "",
                                      {call_operator("aten::to", "dtype", {Value::adopt(here), Value("float64")})});
    soma_dl_managed* lent = nullptr;
    check(engine.to_dlpack(plain.handle(), 0, &lent));
    std::size_t count = 1;
    for (std::int32_t i = 0; i < lent->tensor.ndim; ++i) count *= static_cast<std::size_t>(lent->tensor.shape[i]);
    std::vector<double> out(count);
    const auto* first = static_cast<const char*>(lent->tensor.data) + lent->tensor.byte_offset;
    if (count > 0) std::memcpy(out.data(), first, count * sizeof(double));
    if (lent->deleter != nullptr) lent->deleter(lent);
    return out;
}

Value tensor_of(std::span<const double> elements, std::span<const std::int64_t> shape, std::string_view dtype) {
    soma_value* out = nullptr;
    check(detail::require_engine().from_nested(nested(elements, shape).handle(), text(dtype), &out));
    return Value::adopt(out);
}

Value moved_to(const Value& value, const Device& device) {
    return detail::rebuild(value, [&](const Value& part) -> std::optional<Value> {
        if (part.kind() != Kind::tensor) return std::nullopt;
        soma_value* there = nullptr;
        check(detail::require_engine().to(part.handle(), device.place(), &there));
        return Value::adopt(there);
    });
}

std::vector<Value> tensors_in(const Value& value) {
    std::vector<Value> out;
    collect(value, out);
    return out;
}

Memory::Memory(const Value& tensor) : alias_(call_operator("aten::detach", "", {tensor})) {
    check(detail::require_engine().to_dlpack(alias_.handle(), 1, &lent_));
    for (std::int32_t i = 0; i < lent_->tensor.ndim; ++i) size_ *= static_cast<std::size_t>(lent_->tensor.shape[i]);
}

Memory::~Memory() {
    if (lent_->deleter != nullptr) lent_->deleter(lent_);
}

std::int64_t Memory::offset(std::size_t index) const noexcept {
    const soma_dl_tensor& tensor = lent_->tensor;
    if (tensor.strides == nullptr) return static_cast<std::int64_t>(index);
    std::int64_t at = 0;
    auto rest = static_cast<std::int64_t>(index);
    for (std::int32_t i = tensor.ndim - 1; i >= 0; --i) {
        at += rest % tensor.shape[i] * tensor.strides[i];
        rest /= tensor.shape[i];
    }
    return at;
}

double Memory::get(std::size_t index) const noexcept {
    const auto* first = static_cast<const char*>(lent_->tensor.data) + lent_->tensor.byte_offset;
    if (lent_->tensor.dtype.bits == 64) return reinterpret_cast<const double*>(first)[offset(index)];
    return reinterpret_cast<const float*>(first)[offset(index)];
}

void Memory::set(std::size_t index, double value) noexcept {
    auto* first = static_cast<char*>(lent_->tensor.data) + lent_->tensor.byte_offset;
    if (lent_->tensor.dtype.bits == 64) {
        reinterpret_cast<double*>(first)[offset(index)] = value;
    } else {
        reinterpret_cast<float*>(first)[offset(index)] = static_cast<float>(value);
    }
}

} // namespace soma::cli::verify

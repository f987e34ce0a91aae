// SPDX-License-Identifier: Apache-2.0
#include "verify/differentiate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "soma/detail/engine.h"
#include "soma/detail/gradients.h"
#include "soma/detail/rebuild.h"
#include "soma/detail/value_rep.h"
#include "soma/error.h"

namespace soma::cli::verify {

namespace {

bool is_fraction(const Value& tensor) {
    const std::string_view dtype = dtype_of(tensor);
    return dtype.starts_with("float") || dtype == "bfloat16";
}

/// The weight of an element of the result: between 0.25 and 1.25 or the same below 0, and the same each time.
double weight(std::size_t tensor, std::size_t element) {
    std::uint64_t bits = (tensor + 1) * 0x9e3779b97f4a7c15U + (element + 1) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 31U)) * 0x94d049bb133111ebU;
    bits ^= bits >> 29U;
    const double size = 0.25 + static_cast<double>(bits >> 12U) * 0x1.0p-52;
    return (bits & 1U) != 0 ? size : -size;
}

/// Computed in float32 and only then called float64: no number has more digits than a float32 holds.
bool only_called_double(const std::vector<Value>& results) {
    for (const Value& result : results) {
        for (const double element : elements_of(result)) {
            if (std::isfinite(element) && static_cast<double>(static_cast<float>(element)) != element) return false;
        }
    }
    return true;
}

std::vector<Value> floats_in(const Value& value) {
    std::vector<Value> out;
    for (Value& tensor : tensors_in(value)) {
        if (is_fraction(tensor)) out.push_back(std::move(tensor));
    }
    return out;
}

} // namespace

Function::Function(Subject& subject, std::string dtype)
    : subject_(subject), dtype_(std::move(dtype)), template_(subject.input()), pipeline_(subject.pipeline()) {
    for (const Value& tensor : tensors_in(template_)) {
        if (is_float(tensor)) inputs_.push_back({elements_of(tensor), shape_of(tensor)});
    }
    const auto is_double = [](const Value& tensor) { return dtype_of(tensor) == "float64"; };
    if (dtype_ == "float64") {
        // So that no result is by chance a number that a float32 holds as well.
        for (InputTensor& input : inputs_) {
            for (std::size_t i = 0; i < input.elements.size(); ++i) {
                input.elements[i] += 1e-9 * (1 + static_cast<double>(i % 7));
            }
        }
        for (const State& state : subject_.node(pipeline_).state()) {
            if (!is_float(state.value) || is_double(state.value)) continue;
            subject_.step(fmt::format("setting its `{}` to float64", state.name));
            Value exact = tensor_of(elements_of(state.value), shape_of(state.value), dtype_);
            if (state.parameter) exact = call_operator("aten::requires_grad_", "", {exact, true});
            subject_.node(pipeline_).set_state(state.name, exact);
        }
    }
    for (State& state : subject_.node(pipeline_).state()) {
        if (state.parameter && is_float(state.value)) parameters_.push_back(std::move(state));
    }
    for (const State& parameter : parameters_) {
        if (place_of(parameter.value) == "cpu") continue;
        unfit_ = fmt::format("its parameter `{}` is on `{}` while nobody placed it", parameter.name,
                             place_of(parameter.value));
        return;
    }
    if (size() == 0) {
        unfit_ = "neither its input nor its parameters are tensors of floats";
        return;
    }
    const std::vector<Value> results = floats_in(run(false, nullptr));
    if (results.empty()) {
        unfit_ = "its result holds no tensor of floats";
    } else if (!std::all_of(results.begin(), results.end(), is_float)) {
        unfit_ = "its result is in half precision, in which differences say nothing";
    }
    const bool exact = std::all_of(results.begin(), results.end(), is_double) && !only_called_double(results);
    if (dtype_ == "float64" && !exact) dtype_ = "float32";
}

std::string Function::name(std::size_t tensor) const {
    if (tensor >= inputs_.size()) return fmt::format("parameter `{}`", parameters_[tensor - inputs_.size()].name);
    return inputs_.size() == 1 ? "input" : fmt::format("input {}", tensor);
}

std::size_t Function::elements(std::size_t tensor) const {
    if (tensor < inputs_.size()) return inputs_[tensor].elements.size();
    return static_cast<std::size_t>(info_of(parameters_[tensor - inputs_.size()].value).numel);
}

Value Function::input(bool requires_grad, std::vector<Value>* leaves) const {
    std::size_t next = 0;
    return detail::rebuild(template_, [&](const Value& part) -> std::optional<Value> {
        if (part.kind() != Kind::tensor || !is_float(part)) return std::nullopt;
        const InputTensor& given = inputs_[next++];
        // Numbers of no dimension and empty tensors are made as well; a list says neither.
        Value tensor = given.elements.empty() ? part : tensor_of(given.elements, given.shape, dtype_);
        if (requires_grad) tensor = call_operator("aten::requires_grad_", "", {tensor, true});
        if (leaves != nullptr) leaves->push_back(tensor);
        return tensor;
    });
}

Value Function::run(bool requires_grad, std::vector<Value>* leaves) {
    return subject_.run(pipeline_, input(requires_grad, leaves));
}

std::optional<std::vector<std::optional<std::vector<double>>>> Function::gradients() {
    const detail::Engine& engine = detail::require_engine();
    const auto* table = static_cast<const detail::Gradients*>(engine.extension(detail::gradients_id));
    if (table == nullptr) throw EngineError("the tensor engine has no gradients: install both from one release");
    std::vector<Value> by;
    const std::vector<Value> results = floats_in(run(true, &by));
    for (const State& parameter : parameters_) by.push_back(parameter.value);
    std::vector<Value> weights;
    std::vector<Value> carrying;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!engine.requires_grad(results[i].handle()->payload)) continue;
        std::vector<double> numbers(static_cast<std::size_t>(info_of(results[i]).numel));
        for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] = weight(i, j);
        if (numbers.empty()) continue;
        weights.push_back(tensor_of(numbers, shape_of(results[i]), dtype_of(results[i])));
        carrying.push_back(results[i]);
    }
    if (carrying.empty()) return std::nullopt;
    subject_.step("differentiating its result");
    soma_value* out = nullptr;
    check(table->of(Value::list(std::move(carrying)).handle(), Value::list(std::move(weights)).handle(),
                    Value::list(std::move(by)).handle(), &out));
    const Value given = Value::adopt(out);
    std::vector<std::optional<std::vector<double>>> gradients;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given.at(i).is_none()) {
            gradients.emplace_back();
        } else {
            gradients.emplace_back(elements_of(given.at(i)));
        }
    }
    return gradients;
}

double Function::value(std::size_t tensor, const std::vector<std::pair<std::size_t, double>>& direction, double step) {
    std::vector<double> kept;
    const auto change = [&](auto&& get, auto&& set) {
        for (const auto& [index, amount] : direction) {
            kept.push_back(get(index));
            set(index, kept.back() + step * amount);
        }
    };
    const auto restore = [&](auto&& set) {
        for (std::size_t i = 0; i < kept.size(); ++i) set(direction[i].first, kept[i]);
    };
    const auto sum = [&] {
        double total = 0;
        std::size_t number = 0;
        for (const Value& result : floats_in(run(false, nullptr))) {
            const std::vector<double> numbers = elements_of(result);
            for (std::size_t j = 0; j < numbers.size(); ++j) total += weight(number, j) * numbers[j];
            ++number;
        }
        return total;
    };
    if (tensor < inputs_.size()) {
        std::vector<double>& numbers = inputs_[tensor].elements;
        const auto set = [&](std::size_t index, double number) { numbers[index] = number; };
        change([&](std::size_t index) { return numbers[index]; }, set);
        const double total = sum();
        restore(set);
        return total;
    }
    Memory memory(parameters_[tensor - inputs_.size()].value);
    const auto set = [&](std::size_t index, double number) { memory.set(index, number); };
    change([&](std::size_t index) { return memory.get(index); }, set);
    const double total = sum();
    restore(set);
    return total;
}

} // namespace soma::cli::verify

// SPDX-License-Identifier: Apache-2.0
#include "verify/inputs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "soma/json.h"
#include "verify/compare.h"

namespace soma::cli::verify {

namespace {

// Numbers that lie on no edge of anything; tensors of two, one and four dimensions, then of whole numbers.
constexpr std::array tensor_texts{
    R"({"tensor": [[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]], "dtype": "float32"})",
    R"({"tensor": [0.3, -1.2, 0.7, 1.1], "dtype": "float32"})",
    R"({"tensor": [[[[0.3, -1.2], [0.7, 1.1]], [[0.4, -0.6], [0.9, -0.2]]]], "dtype": "float32"})",
    R"({"tensor": [[0, 1, 2], [2, 1, 0]], "dtype": "int64"})"};

constexpr std::array list_texts{R"(["some", "text"])", R"([["some", "text"], ["more"]])", R"([1, 2, 3])",
                                R"([{"tensor": [[0.3, -1.2, 0.7]]}, {"tensor": [[1.1, 0.4, -0.6]]}])"};

template <std::size_t N>
void add(std::vector<Value>& out, const std::array<const char*, N>& texts) {
    for (const char* text : texts) out.push_back(parse_json(text));
}

/// Values of a kind; empty for what cannot be made without knowing more.
std::vector<Value> values_of(const std::optional<Kind>& kind) {
    std::vector<Value> out;
    if (!kind) {
        add(out, tensor_texts);
        out.emplace_back("some text");
        add(out, list_texts);
        out.emplace_back(2);
        return out;
    }
    constexpr std::array bytes{std::byte{1}, std::byte{0}, std::byte{255}};
    switch (*kind) {
    case Kind::none: return {Value()};
    case Kind::boolean: return {true};
    case Kind::integer: return {2};
    case Kind::real: return {0.5};
    case Kind::string: return {"some text"};
    case Kind::bytes: return {Value::bytes(bytes)};
    case Kind::list: add(out, list_texts); return out;
    case Kind::tensor: add(out, tensor_texts); return out;
    default: return {};
    }
}

/// Several ports are one dict. Every port gets its first value, then its second, and so on.
std::vector<Value> dicts_of(std::span<const Port> ports) {
    std::vector<std::vector<Value>> choices;
    std::size_t most = 0;
    for (const Port& port : ports) {
        choices.push_back(values_of(port.kind));
        if (choices.back().empty()) return {};
        most = std::max(most, choices.back().size());
    }
    std::vector<Value> out;
    for (std::size_t round = 0; round < most; ++round) {
        std::vector<std::pair<std::string, Value>> entries;
        for (std::size_t i = 0; i < ports.size(); ++i) {
            entries.emplace_back(ports[i].name, choices[i][std::min(round, choices[i].size() - 1)]);
        }
        out.push_back(Value::dict(std::move(entries)));
    }
    return out;
}

const Value* nested_of(const Value& value) { return value.kind() == Kind::dict ? value.find("tensor") : nullptr; }

bool any_tensor(const Value& value) {
    if (nested_of(value) != nullptr) return true;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (any_tensor(value.at(i))) return true;
    }
    return false;
}

void add_sizes(const Value& value, std::vector<std::int64_t>& last, std::vector<std::int64_t>& others) {
    if (const Value* nested = nested_of(value)) {
        std::vector<std::int64_t> sizes;
        for (const Value* at = nested; at->kind() == Kind::list; at = &at->at(0)) {
            sizes.push_back(static_cast<std::int64_t>(at->size()));
            if (at->size() == 0) break;
        }
        if (sizes.empty()) return;
        last.push_back(sizes.back());
        others.insert(others.end(), sizes.begin(), sizes.end() - 1);
        return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) add_sizes(value.at(i), last, others);
}

} // namespace

Value Input::make() const { return tensors_from_json(fresh(data_)); }

bool Input::has_tensors() const { return any_tensor(data_); }

std::vector<std::int64_t> Input::sizes() const {
    std::vector<std::int64_t> last;
    std::vector<std::int64_t> others;
    add_sizes(data_, last, others);
    last.insert(last.end(), others.begin(), others.end());
    return last;
}

std::vector<Input> inputs_for(const NodeType& type) {
    if (!type.example_json.empty()) return {Input(parse_json(type.example_json), true)};
    std::vector<Value> values;
    if (type.inputs.size() > 1) {
        values = dicts_of(type.inputs);
    } else {
        values = values_of(type.inputs.empty() ? std::nullopt : type.inputs.front().kind);
    }
    std::vector<Input> out;
    for (Value& value : values) out.emplace_back(std::move(value), false);
    return out;
}

Value of_another_kind(const Value& input) { return input.is_none() ? Value::dict({{"unexpected", 1}}) : Value(); }

} // namespace soma::cli::verify

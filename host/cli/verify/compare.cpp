// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/json.h"
#include "verify/tensors.h"

namespace soma::cli::verify {

namespace {

bool equal(double a, double b, Tolerance tolerance) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    const double most = std::max(std::abs(a), std::abs(b));
    return std::abs(a - b) <= tolerance.absolute + tolerance.relative * most;
}

std::string at(const std::string& path) { return path.empty() ? "" : fmt::format("at `{}`: ", path); }

std::string then(const std::string& path, const std::string& first, const std::string& second) {
    return fmt::format("{}{}, then {}", at(path), first, second);
}

std::optional<std::string> tensor_difference(const Value& first, const Value& second, Tolerance tolerance,
                                             const std::string& path) {
    const auto shape = shape_of(first);
    const auto describe = [](const Value& tensor) {
        return fmt::format("{}[{}]", dtype_of(tensor), fmt::join(shape_of(tensor), ", "));
    };
    if (shape != shape_of(second) || dtype_of(first) != dtype_of(second)) {
        return then(path, describe(first), describe(second));
    }
    if (place_of(first) == "meta" || place_of(second) == "meta") return std::nullopt;
    const std::vector<double> a = elements_of(first);
    const std::vector<double> b = elements_of(second);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (equal(a[i], b[i], tolerance)) continue;
        return fmt::format("{}element {} is {:g}, then {:g}", at(path), i, a[i], b[i]);
    }
    return std::nullopt;
}

std::optional<std::string> compare(const Value& first, const Value& second, Tolerance tolerance,
                                   const std::string& path) {
    if (first.kind() != second.kind()) return then(path, summary(first), summary(second));
    switch (first.kind()) {
    case Kind::tensor: return tensor_difference(first, second, tolerance, path);
    case Kind::real:
        if (equal(first.as_float(), second.as_float(), tolerance)) return std::nullopt;
        return then(path, summary(first), summary(second));
    case Kind::list:
        if (first.size() != second.size()) return then(path, summary(first), summary(second));
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (auto found = compare(first.at(i), second.at(i), tolerance, fmt::format("{}[{}]", path, i)))
                return found;
        }
        return std::nullopt;
    case Kind::dict:
        if (first.size() != second.size()) return then(path, summary(first), summary(second));
        for (std::size_t i = 0; i < first.size(); ++i) {
            const std::string_view key = first.key(i);
            const std::string below = path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
            const Value* other = second.find(key);
            if (other == nullptr) return fmt::format("{}there, then not", at(below));
            if (auto found = compare(first.at(i), *other, tolerance, below)) return found;
        }
        return std::nullopt;
    case Kind::opaque:
        if (first.opaque_type() == second.opaque_type()) return std::nullopt;
        return then(path, summary(first), summary(second));
    case Kind::generator: return std::nullopt;
    default:
        if (first == second) return std::nullopt;
        return then(path, summary(first), summary(second));
    }
}

} // namespace

std::optional<std::string> difference(const Value& first, const Value& second, Tolerance tolerance) {
    return compare(first, second, tolerance, "");
}

Value fresh(const Value& value) {
    switch (value.kind()) {
    case Kind::boolean: return value.as_bool();
    case Kind::integer: return value.as_int();
    case Kind::real: return value.as_float();
    case Kind::string: return value.as_string();
    case Kind::bytes: return Value::bytes(value.as_bytes());
    case Kind::list: {
        std::vector<Value> items;
        for (std::size_t i = 0; i < value.size(); ++i) items.push_back(fresh(value.at(i)));
        return Value::list(std::move(items));
    }
    case Kind::dict: {
        std::vector<std::pair<std::string, Value>> entries;
        for (std::size_t i = 0; i < value.size(); ++i) entries.emplace_back(value.key(i), fresh(value.at(i)));
        return Value::dict(std::move(entries));
    }
    default: return value;
    }
}

} // namespace soma::cli::verify

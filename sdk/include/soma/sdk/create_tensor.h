// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file create_tensor.h
/// New tensors. From a vector: see memory.h.

#include <soma/sdk/memory.h>

namespace soma::sdk {

/// Filled with 0.
inline Tensor zeros(const Dims& sizes, std::string_view device = "cpu", std::string_view dtype = "float32") {
    static const Operator op{"aten::zeros"};
    return Tensor{op({sizes}, {{"dtype", dtype}, {"device", device}})};
}

/// Filled with 1.
inline Tensor ones(const Dims& sizes, std::string_view device = "cpu", std::string_view dtype = "float32") {
    static const Operator op{"aten::ones"};
    return Tensor{op({sizes}, {{"dtype", dtype}, {"device", device}})};
}

/// Filled with one number.
inline Tensor full(const Dims& sizes, double value, std::string_view device = "cpu",
                   std::string_view dtype = "float32") {
    static const Operator op{"aten::full"};
    return Tensor{op({sizes, value}, {{"dtype", dtype}, {"device", device}})};
}

/// Not filled: write every element before reading one.
inline Tensor empty(const Dims& sizes, std::string_view device = "cpu", std::string_view dtype = "float32") {
    static const Operator op{"aten::empty", "memory_format"};
    return Tensor{op({sizes}, {{"dtype", dtype}, {"device", device}})};
}

/// Whole numbers from `first` up to and without `end`.
inline Tensor arange(std::int64_t first, std::int64_t end, std::string_view device = "cpu",
                     std::string_view dtype = "int64") {
    static const Operator op{"aten::arange", "start"};
    return Tensor{op({first, end}, {{"dtype", dtype}, {"device", device}})};
}

/// Normal random numbers of mean 0 and variance 1. The generator, from `ctx.generator()`, is on the same device.
inline Tensor randn(const Dims& sizes, const Value& generator, std::string_view device = "cpu",
                    std::string_view dtype = "float32") {
    static const Operator op{"aten::randn", "generator"};
    return Tensor{op({sizes}, {{"generator", generator}, {"dtype", dtype}, {"device", device}})};
}

/// Random numbers, even between 0 and 1. The generator, from `ctx.generator()`, is on the same device.
inline Tensor rand(const Dims& sizes, const Value& generator, std::string_view device = "cpu",
                   std::string_view dtype = "float32") {
    static const Operator op{"aten::rand", "generator"};
    return Tensor{op({sizes}, {{"generator", generator}, {"dtype", dtype}, {"device", device}})};
}

/// Filled with 0, like another in sizes, dtype and device.
inline Tensor zeros_like(const Tensor& other) {
    static const Operator op{"aten::zeros_like"};
    return Tensor{op({other})};
}

/// Filled with 1, like another in sizes, dtype and device.
inline Tensor ones_like(const Tensor& other) {
    static const Operator op{"aten::ones_like"};
    return Tensor{op({other})};
}

namespace detail {

inline void collect_numbers(const Value& value, std::size_t depth, Dims& sizes, std::vector<double>& numbers,
                            std::string_view what) {
    const Kind kind = value.kind();
    if (kind != Kind::list) {
        if (kind != Kind::integer && kind != Kind::floating && kind != Kind::boolean) {
            throw Error{Code::type_mismatch, std::string{what} +
                                                 " must be a tensor, or numbers in lists, not lists with " +
                                                 std::string{with_article(kind)} + " in them"};
        }
        if (depth != sizes.size())
            throw Error{Code::invalid_argument, std::string{what} + " has lists of unequal depth"};
        numbers.push_back(kind == Kind::boolean ? (value.as_bool() ? 1.0 : 0.0) : value.as_float());
        return;
    }
    const auto count = static_cast<std::int64_t>(value.size());
    if (depth == sizes.size()) {
        if (!numbers.empty()) throw Error{Code::invalid_argument, std::string{what} + " has lists of unequal depth"};
        sizes.push_back(count);
    }
    if (sizes[depth] != count) {
        throw Error{Code::invalid_argument, std::string{what} + " has lists of unequal length, " +
                                                std::to_string(sizes[depth]) + " and " + std::to_string(count)};
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        collect_numbers(value.at(i), depth + 1, sizes, numbers, what);
    }
}

} // namespace detail

/// A tensor as it is; a number, or numbers in lists of equal length, as a new tensor on cpu. `what` says which value is
/// meant when it is neither, e.g. "the input".
inline Tensor as_tensor(const Value& value, std::string_view what = "the value", std::string_view dtype = "float32") {
    const Kind kind = value.kind();
    if (kind == Kind::tensor) return Tensor{value};
    if (kind != Kind::list && kind != Kind::integer && kind != Kind::floating && kind != Kind::boolean) {
        throw Error{Code::type_mismatch, std::string{what} + " must be a tensor, or numbers in lists, not " +
                                             std::string{with_article(kind)}};
    }
    Dims sizes;
    std::vector<double> numbers;
    detail::collect_numbers(value, 0, sizes, numbers, what);
    return to_dtype(from_vector(std::move(numbers), std::move(sizes)), dtype);
}

} // namespace soma::sdk

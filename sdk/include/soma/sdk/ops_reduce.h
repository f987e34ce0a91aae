// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ops_reduce.h
/// Sums, means and extremes, of everything or along dimensions; a negative dimension counts from the last.

#include <soma/sdk/ops_arithmetic.h>
#include <soma/sdk/ops_math.h>

namespace soma::sdk {

/// Sum of all elements.
inline Tensor sum(const Tensor& x) {
    static const Operator op{"aten::sum"};
    return Tensor{op({x})};
}

/// Sum along dimensions.
inline Tensor sum(const Tensor& x, const Dims& dims, bool keepdim = false) {
    static const Operator op{"aten::sum", "dim_IntList"};
    return Tensor{op({x, dims, keepdim})};
}

/// Mean of all elements.
inline Tensor mean(const Tensor& x) {
    static const Operator op{"aten::mean"};
    return Tensor{op({x})};
}

/// Mean along dimensions.
inline Tensor mean(const Tensor& x, const Dims& dims, bool keepdim = false) {
    static const Operator op{"aten::mean", "dim"};
    return Tensor{op({x, dims, keepdim})};
}

/// The greatest element.
inline Tensor max(const Tensor& x) {
    static const Operator op{"aten::amax"};
    return Tensor{op({x})};
}

/// The smallest element.
inline Tensor min(const Tensor& x) {
    static const Operator op{"aten::amin"};
    return Tensor{op({x})};
}

/// The greatest along dimensions.
inline Tensor amax(const Tensor& x, const Dims& dims, bool keepdim = false) {
    static const Operator op{"aten::amax"};
    return Tensor{op({x, dims, keepdim})};
}

/// The smallest along dimensions.
inline Tensor amin(const Tensor& x, const Dims& dims, bool keepdim = false) {
    static const Operator op{"aten::amin"};
    return Tensor{op({x, dims, keepdim})};
}

/// Index of the greatest along a dimension, int64.
inline Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim = false) {
    static const Operator op{"aten::argmax"};
    return Tensor{op({x, dim, keepdim})};
}

/// Index of the smallest along a dimension, int64.
inline Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim = false) {
    static const Operator op{"aten::argmin"};
    return Tensor{op({x, dim, keepdim})};
}

/// Running sum along a dimension.
inline Tensor cumsum(const Tensor& x, std::int64_t dim) {
    static const Operator op{"aten::cumsum"};
    return Tensor{op({x, dim})};
}

/// Whether any element is not 0.
inline Tensor any(const Tensor& x) {
    static const Operator op{"aten::any"};
    return Tensor{op({x})};
}

/// Whether no element is 0.
inline Tensor all(const Tensor& x) {
    static const Operator op{"aten::all"};
    return Tensor{op({x})};
}

/// Euclidean length along dimensions; its gradient is finite at 0.
inline Tensor norm(const Tensor& x, const Dims& dims, bool keepdim = false) {
    return sqrt(sum(x * x, dims, keepdim) + 1e-24);
}

/// x scaled to Euclidean length 1 along a dimension; 0 stays 0.
inline Tensor normalize(const Tensor& x, std::int64_t dim = -1) { return x / norm(x, {dim}, true); }

/// A tensor of values and one of their indices.
struct Ranked {
    Tensor values;  ///< the elements
    Tensor indices; ///< where they were, int64
};

/// The `count` greatest along a dimension, in falling order.
inline Ranked topk(const Tensor& x, std::int64_t count, std::int64_t dim = -1) {
    static const Operator op{"aten::topk"};
    auto both = op.all({x, count, dim});
    return {Tensor{std::move(both.at(0))}, Tensor{std::move(both.at(1))}};
}

/// Sorted along a dimension.
inline Ranked sort(const Tensor& x, std::int64_t dim = -1, bool descending = false) {
    static const Operator op{"aten::sort"};
    auto both = op.all({x, dim, descending});
    return {Tensor{std::move(both.at(0))}, Tensor{std::move(both.at(1))}};
}

} // namespace soma::sdk

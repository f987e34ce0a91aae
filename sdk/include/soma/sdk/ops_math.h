// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ops_math.h
/// Functions of one element, and activations. All keep the device and are differentiable where the maths is.

#include <soma/sdk/tensor.h>

namespace soma::sdk {

/// e to the x.
inline Tensor exp(const Tensor& x) {
    static const Operator op{"aten::exp"};
    return Tensor{op({x})};
}

/// Natural logarithm.
inline Tensor log(const Tensor& x) {
    static const Operator op{"aten::log"};
    return Tensor{op({x})};
}

/// Square root.
inline Tensor sqrt(const Tensor& x) {
    static const Operator op{"aten::sqrt"};
    return Tensor{op({x})};
}

/// 1 / square root.
inline Tensor rsqrt(const Tensor& x) {
    static const Operator op{"aten::rsqrt"};
    return Tensor{op({x})};
}

/// Absolute value.
inline Tensor abs(const Tensor& x) {
    static const Operator op{"aten::abs"};
    return Tensor{op({x})};
}

/// -1, 0 or 1.
inline Tensor sign(const Tensor& x) {
    static const Operator op{"aten::sign"};
    return Tensor{op({x})};
}

/// Sine.
inline Tensor sin(const Tensor& x) {
    static const Operator op{"aten::sin"};
    return Tensor{op({x})};
}

/// Cosine.
inline Tensor cos(const Tensor& x) {
    static const Operator op{"aten::cos"};
    return Tensor{op({x})};
}

/// Hyperbolic tangent.
inline Tensor tanh(const Tensor& x) {
    static const Operator op{"aten::tanh"};
    return Tensor{op({x})};
}

/// 1 / (1 + exp(-x)).
inline Tensor sigmoid(const Tensor& x) {
    static const Operator op{"aten::sigmoid"};
    return Tensor{op({x})};
}

/// x where it is positive, else 0.
inline Tensor relu(const Tensor& x) {
    // The same as aten::relu, gradient included, but libtorch 1.13 knows this one on meta too.
    static const Operator op{"aten::threshold"};
    return Tensor{op({x, 0, 0})};
}

/// The next whole number below.
inline Tensor floor(const Tensor& x) {
    static const Operator op{"aten::floor"};
    return Tensor{op({x})};
}

/// The nearest whole number, the even one of two.
inline Tensor round(const Tensor& x) {
    static const Operator op{"aten::round"};
    return Tensor{op({x})};
}

/// Where x is no number: a tensor of bools.
inline Tensor isnan(const Tensor& x) {
    static const Operator op{"aten::isnan"};
    return Tensor{op({x})};
}

/// Where x is 0: a tensor of bools.
inline Tensor logical_not(const Tensor& x) {
    static const Operator op{"aten::eq", "Scalar"};
    return Tensor{op({x, 0})};
}

/// x to the power of a number.
inline Tensor pow(const Tensor& x, double exponent) {
    static const Operator op{"aten::pow", "Tensor_Scalar"};
    return Tensor{op({x, exponent})};
}

/// x held between two bounds; nothing is no bound.
inline Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high = std::nullopt) {
    static const Operator op{"aten::clamp"};
    return Tensor{op({x, low, high})};
}

/// The smaller of two, element by element.
inline Tensor minimum(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::minimum"};
    return Tensor{op({a, b})};
}

/// The greater of two, element by element.
inline Tensor maximum(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::maximum"};
    return Tensor{op({a, b})};
}

/// a where the condition holds, else b.
inline Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::where", "self"};
    return Tensor{op({condition, a, b})};
}

/// x with a number where the mask holds.
inline Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
    static const Operator op{"aten::masked_fill", "Scalar"};
    return Tensor{op({x, mask, value})};
}

/// Positive and summing to 1 along a dimension.
inline Tensor softmax(const Tensor& x, std::int64_t dim) {
    static const Operator op{"aten::softmax", "int"};
    return Tensor{op({x, dim})};
}

/// Logarithm of softmax.
inline Tensor log_softmax(const Tensor& x, std::int64_t dim) {
    static const Operator op{"aten::log_softmax", "int"};
    return Tensor{op({x, dim})};
}

/// Gaussian error linear unit.
inline Tensor gelu(const Tensor& x) {
    static const Operator op{"aten::gelu"};
    return Tensor{op({x})};
}

} // namespace soma::sdk

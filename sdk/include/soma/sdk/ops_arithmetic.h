// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ops_arithmetic.h
/// Arithmetic and comparison of tensors, with tensors and with numbers. Operands broadcast; all on one device.

#include <soma/sdk/tensor.h>

namespace soma::sdk {

/// Sum, element by element.
inline Tensor operator+(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::add", "Tensor"};
    return Tensor{op({a, b})};
}

/// Sum with a number.
inline Tensor operator+(const Tensor& a, double b) {
    static const Operator op{"aten::add", "Scalar"};
    return Tensor{op({a, b})};
}

/// Difference, element by element.
inline Tensor operator-(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::sub", "Tensor"};
    return Tensor{op({a, b})};
}

/// Difference with a number.
inline Tensor operator-(const Tensor& a, double b) {
    static const Operator op{"aten::sub", "Scalar"};
    return Tensor{op({a, b})};
}

/// Product, element by element.
inline Tensor operator*(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::mul", "Tensor"};
    return Tensor{op({a, b})};
}

/// Product with a number.
inline Tensor operator*(const Tensor& a, double b) {
    static const Operator op{"aten::mul", "Scalar"};
    return Tensor{op({a, b})};
}

/// Quotient, element by element.
inline Tensor operator/(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::div", "Tensor"};
    return Tensor{op({a, b})};
}

/// Quotient with a number.
inline Tensor operator/(const Tensor& a, double b) {
    static const Operator op{"aten::div", "Scalar"};
    return Tensor{op({a, b})};
}

/// Sum with a number.
inline Tensor operator+(double a, const Tensor& b) { return b + a; }

/// Product with a number.
inline Tensor operator*(double a, const Tensor& b) { return b * a; }

/// A number less a tensor.
inline Tensor operator-(double a, const Tensor& b) {
    static const Operator op{"aten::rsub", "Scalar"};
    return Tensor{op({b, a})};
}

/// 1 / x, element by element.
inline Tensor reciprocal(const Tensor& x) {
    static const Operator op{"aten::reciprocal"};
    return Tensor{op({x})};
}

/// A number divided by a tensor.
inline Tensor operator/(double a, const Tensor& b) { return reciprocal(b) * a; }

/// The negative, element by element.
inline Tensor operator-(const Tensor& x) {
    static const Operator op{"aten::neg"};
    return Tensor{op({x})};
}

/// Where a is equal: a tensor of bools.
inline Tensor operator==(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::eq", "Tensor"};
    return Tensor{op({a, b})};
}

/// Where a is equal: a tensor of bools.
inline Tensor operator==(const Tensor& a, double b) {
    static const Operator op{"aten::eq", "Scalar"};
    return Tensor{op({a, b})};
}

/// Where a is different: a tensor of bools.
inline Tensor operator!=(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::ne", "Tensor"};
    return Tensor{op({a, b})};
}

/// Where a is different: a tensor of bools.
inline Tensor operator!=(const Tensor& a, double b) {
    static const Operator op{"aten::ne", "Scalar"};
    return Tensor{op({a, b})};
}

/// Where a is less: a tensor of bools.
inline Tensor operator<(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::lt", "Tensor"};
    return Tensor{op({a, b})};
}

/// Where a is less: a tensor of bools.
inline Tensor operator<(const Tensor& a, double b) {
    static const Operator op{"aten::lt", "Scalar"};
    return Tensor{op({a, b})};
}

/// Where a is less or equal: a tensor of bools.
inline Tensor operator<=(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::le", "Tensor"};
    return Tensor{op({a, b})};
}

/// Where a is less or equal: a tensor of bools.
inline Tensor operator<=(const Tensor& a, double b) {
    static const Operator op{"aten::le", "Scalar"};
    return Tensor{op({a, b})};
}

/// Where a is greater: a tensor of bools.
inline Tensor operator>(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::gt", "Tensor"};
    return Tensor{op({a, b})};
}

/// Where a is greater: a tensor of bools.
inline Tensor operator>(const Tensor& a, double b) {
    static const Operator op{"aten::gt", "Scalar"};
    return Tensor{op({a, b})};
}

/// Where a is greater or equal: a tensor of bools.
inline Tensor operator>=(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::ge", "Tensor"};
    return Tensor{op({a, b})};
}

/// Where a is greater or equal: a tensor of bools.
inline Tensor operator>=(const Tensor& a, double b) {
    static const Operator op{"aten::ge", "Scalar"};
    return Tensor{op({a, b})};
}

} // namespace soma::sdk

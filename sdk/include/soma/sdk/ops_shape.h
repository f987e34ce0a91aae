// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ops_shape.h
/// Other shapes, parts and joins of tensors. Views share memory with what they are a view of.

#include <soma/sdk/tensor.h>

namespace soma::sdk {

/// The same elements in other sizes; -1 is worked out.
inline Tensor reshape(const Tensor& x, const Dims& sizes) {
    static const Operator op{"aten::reshape"};
    return Tensor{op({x, sizes})};
}

/// Two dimensions exchanged.
inline Tensor transpose(const Tensor& x, std::int64_t dim0, std::int64_t dim1) {
    static const Operator op{"aten::transpose", "int"};
    return Tensor{op({x, dim0, dim1})};
}

/// A matrix transposed.
inline Tensor t(const Tensor& x) {
    static const Operator op{"aten::t"};
    return Tensor{op({x})};
}

/// Dimensions in another order.
inline Tensor permute(const Tensor& x, const Dims& order) {
    static const Operator op{"aten::permute"};
    return Tensor{op({x, order})};
}

/// Without a dimension of size 1.
inline Tensor squeeze(const Tensor& x, std::int64_t dim) {
    static const Operator op{"aten::squeeze", "dim"};
    return Tensor{op({x, dim})};
}

/// With a new dimension of size 1.
inline Tensor unsqueeze(const Tensor& x, std::int64_t dim) {
    static const Operator op{"aten::unsqueeze"};
    return Tensor{op({x, dim})};
}

/// Repeated along dimensions of size 1, without a copy.
inline Tensor expand(const Tensor& x, const Dims& sizes) {
    static const Operator op{"aten::expand"};
    return Tensor{op({x, sizes})};
}

/// Dimensions `first` to `last` as one.
inline Tensor flatten(const Tensor& x, std::int64_t first = 0, std::int64_t last = -1) {
    static const Operator op{"aten::flatten", "using_ints"};
    return Tensor{op({x, first, last})};
}

/// One slice; the dimension goes.
inline Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index) {
    static const Operator op{"aten::select", "int"};
    return Tensor{op({x, dim, index})};
}

/// `length` slices from `start`.
inline Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length) {
    static const Operator op{"aten::narrow"};
    return Tensor{op({x, dim, start, length})};
}

/// The slices that a tensor of indices names.
inline Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& indices) {
    static const Operator op{"aten::index_select"};
    return Tensor{op({x, dim, indices})};
}

/// The elements that a tensor of indices names.
inline Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& indices) {
    static const Operator op{"aten::gather"};
    return Tensor{op({x, dim, indices})};
}

/// In reverse order along dimensions.
inline Tensor flip(const Tensor& x, const Dims& dims) {
    static const Operator op{"aten::flip"};
    return Tensor{op({x, dims})};
}

/// Joined along a dimension they have.
inline Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
    static const Operator op{"aten::cat"};
    return Tensor{op({tensors, dim})};
}

/// Joined along a new dimension.
inline Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
    static const Operator op{"aten::stack"};
    return Tensor{op({tensors, dim})};
}

/// A copy.
inline Tensor clone(const Tensor& x) {
    static const Operator op{"aten::clone"};
    return Tensor{op({x})};
}

/// Compact and row-major; itself when it is.
inline Tensor contiguous(const Tensor& x) {
    static const Operator op{"aten::contiguous"};
    return Tensor{op({x})};
}

/// The same elements, cut off from gradients.
inline Tensor detach(const Tensor& x) {
    static const Operator op{"aten::detach"};
    return Tensor{op({x})};
}

/// The elements converted, e.g. to "float64"; itself when they are that.
inline Tensor to_dtype(const Tensor& x, std::string_view dtype) {
    static const Operator op{"aten::to", "dtype"};
    return Tensor{op({x, dtype})};
}

} // namespace soma::sdk

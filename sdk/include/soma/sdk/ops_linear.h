// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ops_linear.h
/// Matrix products and layers made of them.

#include <soma/sdk/ops_reduce.h>
#include <soma/sdk/ops_shape.h>

namespace soma::sdk {

/// Matrix product; leading dimensions are a batch.
inline Tensor matmul(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::matmul"};
    return Tensor{op({a, b})};
}

/// Product of two matrices.
inline Tensor mm(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::mm"};
    return Tensor{op({a, b})};
}

/// Products of two batches of matrices.
inline Tensor bmm(const Tensor& a, const Tensor& b) {
    static const Operator op{"aten::bmm"};
    return Tensor{op({a, b})};
}

/// Inner product of two vectors.
inline Tensor dot(const Tensor& a, const Tensor& b) { return sum(a * b); }

/// x weightᵀ + bias; the weight is [out, in], the bias may be left out.
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
    static const Operator op{"aten::linear"};
    return Tensor{op({x, weight, bias})};
}

/// Rows of a table by indices.
inline Tensor embedding(const Tensor& table, const Tensor& indices) {
    if (table.place().kind == SOMA_DEVICE_META) {
        // libtorch 1.13 has no lookup on meta, but it has this.
        Dims sizes = indices.sizes();
        sizes.push_back(table.size(1));
        return reshape(gather(table, 0, expand(reshape(indices, {-1, 1}), {-1, table.size(1)})), sizes);
    }
    static const Operator op{"aten::embedding"};
    return Tensor{op({table, indices})};
}

/// Mean 0 and variance 1 over the last dimensions, then scaled and shifted.
inline Tensor layer_norm(const Tensor& x, const Dims& sizes, const Tensor& weight = {}, const Tensor& bias = {}) {
    static const Operator op{"aten::layer_norm"};
    return Tensor{op({x, sizes, weight, bias})};
}

/// Mean of the squared differences.
inline Tensor mse_loss(const Tensor& x, const Tensor& target) {
    static const Operator op{"aten::mse_loss"};
    return Tensor{op({x, target})};
}

} // namespace soma::sdk

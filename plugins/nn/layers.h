// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <soma/sdk.h>

namespace nn {

/// Weight and bias of a linear map, within a node.
class LinearMap : public soma::sdk::Module {
public:
    /// Named parts of `parent`; an empty name puts them into it directly.
    LinearMap(soma::sdk::Module& parent, std::string_view name, soma::sdk::Init& init, std::int64_t in,
              std::int64_t out, bool bias);
    /// x weightᵀ + bias. Throws Error when the last size is not `in`.
    soma::sdk::Tensor operator()(const soma::sdk::Tensor& x) const;

private:
    /// Throws Error when the last size is not `in`.
    void expect_fit(const soma::sdk::Tensor& x) const;

    std::int64_t in_;
    const soma::sdk::Tensor* weight_;
    const soma::sdk::Tensor* bias_;
};

/// `nn.linear`.
class Linear : public soma::sdk::Node {
public:
    static soma::sdk::NodeType describe();
    explicit Linear(const soma::sdk::Create& create);
    soma::sdk::Tensor forward(const soma::sdk::Ctx& ctx, const soma::sdk::Value& input);

private:
    soma::sdk::Init init_;
    LinearMap map_;
};

/// `nn.relu`.
class Relu : public soma::sdk::Node {
public:
    static soma::sdk::NodeType describe();
    using Node::Node;
    soma::sdk::Tensor forward(const soma::sdk::Ctx& ctx, const soma::sdk::Value& input);
};

/// `nn.embedding`.
class Embedding : public soma::sdk::Node {
public:
    static soma::sdk::NodeType describe();
    explicit Embedding(const soma::sdk::Create& create);
    soma::sdk::Tensor forward(const soma::sdk::Ctx& ctx, const soma::sdk::Value& input);

private:
    std::int64_t count_;
    const soma::sdk::Tensor& table_;
};

/// `nn.encoder`.
class Encoder : public soma::sdk::Node {
public:
    static soma::sdk::NodeType describe();
    explicit Encoder(const soma::sdk::Create& create);
    soma::sdk::Tensor forward(const soma::sdk::Ctx& ctx, const soma::sdk::Value& input);

private:
    soma::sdk::Init init_;
    const soma::sdk::Tensor& table_;
    LinearMap map_;
};

/// `nn.similarity`.
class Similarity : public soma::sdk::Node {
public:
    static soma::sdk::NodeType describe();
    explicit Similarity(const soma::sdk::Create& create);
    soma::sdk::Tensor forward(const soma::sdk::Ctx& ctx, const soma::sdk::Value& input);

private:
    bool pairs_;
};

} // namespace nn

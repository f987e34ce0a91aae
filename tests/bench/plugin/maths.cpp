// SPDX-License-Identifier: Apache-2.0
// Nodes of real maths, as their author would write them with the SDK.
#include <soma/sdk.h>

#include <cmath>

namespace maths {
namespace {

using namespace soma::sdk;

/// Adds a constant tensor.
struct Add : Node {
    static NodeType describe() {
        return NodeType{"maths.add"}
            .doc("Adds a constant matrix.")
            .config(Int("size").defaults(1).min(1).doc("rows and columns"))
            .reentrant()
            .differentiable();
    }
    explicit Add(const Create& create)
        : Node{create}, term_{buffer("term",
                                     full({create.config().get_int("size"), create.config().get_int("size")}, 0.25))} {}

    Tensor forward(const Ctx&, const Tensor& input) { return input + term_; }

private:
    const Tensor& term_;
};

/// A linear map's tensors.
struct Map {
    Map(Module& node, Init& init, const std::string& name, std::int64_t in, std::int64_t out)
        : weight{node.parameter(name + "_weight", init.uniform({out, in}, 1 / std::sqrt(static_cast<double>(in))))},
          bias{node.parameter(name + "_bias", zeros({out}))} {}
    Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
    const Tensor& weight;
    const Tensor& bias;
};

/// Normalisation before a block.
struct Norm {
    Norm(Module& node, std::int64_t dim)
        : dims{dim}, weight{node.parameter("norm_weight", ones({dim}))}, bias{node.parameter("norm_bias",
                                                                                             zeros({dim}))} {}
    Tensor operator()(const Tensor& x) const { return layer_norm(x, dims, weight, bias); }
    Dims dims;
    const Tensor& weight;
    const Tensor& bias;
};

NodeType block(const std::string& name, const std::string& doc) {
    return NodeType{name}
        .doc(doc)
        .config(Int("dim").required().min(1).doc("length of a vector"))
        .config(Int("heads").defaults(4).min(1).doc("attention heads"))
        .reentrant()
        .differentiable();
}

/// x + attention(norm(x)).
struct Attention : Node {
    static NodeType describe() { return block("maths.attention", "Attention of a sequence to itself, and the input."); }
    explicit Attention(const Create& create)
        : Node{create}, init_{create}, dim_{create.config().get_int("dim")}, heads_{create.config().get_int("heads")},
          norm_{*this, dim_}, qkv_{*this, init_, "qkv", dim_, 3 * dim_}, out_{*this, init_, "out", dim_, dim_} {}

    Tensor forward(const Ctx&, const Value& input) {
        const Tensor x{input};
        const std::int64_t batch = x.size(0);
        const std::int64_t length = x.size(1);
        const Tensor parts =
            permute(reshape(qkv_(norm_(x)), {batch, length, 3, heads_, dim_ / heads_}), {2, 0, 3, 1, 4});
        const Tensor query = select(parts, 0, 0);
        const Tensor key = select(parts, 0, 1);
        const Tensor scale =
            matmul(query, transpose(key, -2, -1)) * (1 / std::sqrt(static_cast<double>(dim_ / heads_)));
        const Tensor mixed = matmul(softmax(scale, -1), select(parts, 0, 2));
        return x + out_(reshape(transpose(mixed, 1, 2), {batch, length, dim_}));
    }

private:
    Init init_;
    std::int64_t dim_;
    std::int64_t heads_;
    Norm norm_;
    Map qkv_;
    Map out_;
};

/// x + map(gelu(map(norm(x)))).
struct FeedForward : Node {
    static NodeType describe() { return block("maths.feed_forward", "Two linear maps with a GELU, and the input."); }
    explicit FeedForward(const Create& create)
        : Node{create}, init_{create}, dim_{create.config().get_int("dim")}, norm_{*this, dim_},
          wide_{*this, init_, "wide", dim_, 4 * dim_}, back_{*this, init_, "back", 4 * dim_, dim_} {}

    Tensor forward(const Ctx&, const Value& input) {
        const Tensor x{input};
        return x + back_(gelu(wide_(norm_(x))));
    }

private:
    Init init_;
    std::int64_t dim_;
    Norm norm_;
    Map wide_;
    Map back_;
};

} // namespace
} // namespace maths

SOMA_PLUGIN(soma::sdk::Plugin("maths", "1.0.0").doc("Maths for measuring.").license("Apache-2.0"), maths::Add,
            maths::Attention, maths::FeedForward)

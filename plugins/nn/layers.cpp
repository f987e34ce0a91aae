// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <cmath>

namespace nn {

using namespace soma::sdk;

LinearMap::LinearMap(Module& parent, std::string_view name, Init& init, std::int64_t in, std::int64_t out, bool bias)
    : Module{parent, name}, in_{in} {
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    weight_ = &parameter("weight", init.uniform({out, in}, bound));
    bias_ = bias ? &parameter("bias", init.uniform({out}, bound)) : nullptr;
}

Tensor LinearMap::operator()(const Tensor& x) const {
    const Tensor none;
    try {
        return linear(x, *weight_, bias_ == nullptr ? none : *bias_);
    } catch (const Error&) {
        // Looked at only now: what fits, as nearly always, need not be described first.
        expect_fit(x);
        throw;
    }
}

void LinearMap::expect_fit(const Tensor& x) const {
    std::optional<Sizes> known;
    try {
        known = x.sizes();
    } catch (const Error&) {
        return; // it has none: what is wrong is something else
    }
    const Sizes sizes = *known;
    if (sizes.size() != 0 && sizes[sizes.size() - 1] == in_) return;
    throw Error{Code::invalid_argument,
                "the input's last size must be " + std::to_string(in_) + " (`in`), but its sizes are " + sizes.str()};
}

NodeType Linear::describe() {
    return NodeType{"nn.linear"}
        .doc("Maps vectors linearly: x weightᵀ + bias.\n"
             "The weights follow from the pipeline's seed and the node's id.")
        .config(Int("in").required().min(1).max(1 << 20).doc("length of the vectors that come in"))
        .config(Int("out").required().min(1).max(1 << 20).doc("length of those that go out"))
        .config(Bool("bias").defaults(true).doc("add a trained constant"))
        .input("x", Kind::any, "a tensor [..., in], or numbers in lists")
        .output("y", Kind::tensor, "[..., out]")
        .differentiable()
        .example(R"({"tensor": [[0.5, -1.0, 2.0, 0.25]], "dtype": "float32"})");
}

Linear::Linear(const Create& create)
    : Node{create}, init_{create}, map_{*this,
                                        "",
                                        init_,
                                        create.config().get_int("in"),
                                        create.config().get_int("out"),
                                        create.config().get_bool("bias")} {}

Tensor Linear::forward(const Ctx& ctx, const Value& input) {
    return map_(obey(ctx, *this, as_tensor(input, "the input")));
}

NodeType Relu::describe() {
    return NodeType{"nn.relu"}
        .doc("Keeps what is positive and makes the rest 0.")
        .input("x", Kind::any, "a tensor, or numbers in lists")
        .output("y", Kind::tensor, "of the same sizes")
        .reentrant()
        .differentiable()
        .not_smooth()
        .example(R"({"tensor": [[0.5, -1.0, 2.0, -0.25]], "dtype": "float32"})");
}

Tensor Relu::forward(const Ctx& ctx, const Value& input) { return relu(obey(ctx, as_tensor(input, "the input"))); }

NodeType Similarity::describe() {
    return NodeType{"nn.similarity"}
        .doc(
            "Compares vectors by cosine.\n"
            "Of a list of two tensors row by row, or every row with every row; of one matrix every row with every row.")
        .config(String("mode")
                    .choices({"rows", "pairs"})
                    .defaults("rows")
                    .doc("of two tensors: `rows` compares those in the same place, `pairs` all"))
        .input("vectors", Kind::any, "a list of two tensors [..., n], or one matrix")
        .output("cosines", Kind::tensor, "[...] by rows, else [rows, rows]")
        .reentrant()
        .differentiable()
        .example(R"([{"tensor": [[1.0, 2.0], [3.0, 4.0]]}, {"tensor": [[2.0, 1.0], [3.0, 5.0]]}])");
}

Similarity::Similarity(const Create& create) : Node{create}, pairs_{create.config().get_string("mode") == "pairs"} {}

Tensor Similarity::forward(const Ctx& ctx, const Value& input) {
    const auto matrix = [](const Tensor& x) {
        if (x.dim() != 2) {
            throw Error{Code::invalid_argument,
                        "every row with every row needs matrices, not sizes " + x.sizes().str()};
        }
        return normalize(x);
    };
    const bool two =
        input.is(Kind::list) && input.size() == 2 && !input.at(0).is(Kind::floating) && !input.at(0).is(Kind::integer);
    if (!two) {
        const Tensor unit = matrix(obey(ctx, as_tensor(input, "the input")));
        return matmul(unit, t(unit));
    }
    const Tensor a = obey(ctx, as_tensor(input.at(0), "the first"));
    const Tensor b = obey(ctx, as_tensor(input.at(1), "the second"));
    if (a.device() != b.device()) {
        throw Error{Code::wrong_device, "cannot compare tensors on `" + std::string{a.device()} + "` and `" +
                                            std::string{b.device()} + "`: place it, for example with `.on(\"" +
                                            std::string{a.device()} + "\")`, and it moves them there"};
    }
    if (a.dim() == 0 || b.dim() == 0 || a.size(-1) != b.size(-1)) {
        throw Error{Code::invalid_argument,
                    "vectors of sizes " + a.sizes().str() + " and " + b.sizes().str() + " differ in length"};
    }
    if (pairs_) return matmul(matrix(a), t(matrix(b)));
    return sum(normalize(a) * normalize(b), {-1});
}

} // namespace nn

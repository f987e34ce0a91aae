// SPDX-License-Identifier: Apache-2.0
// A plugin over the SDK, without a header of libtorch: `golden.mlp` is y = tanh(x aT + b) cT + d. The binary beside it was
// built from this text, so neither is ever edited.
#include <soma/sdk.h>

#include <cmath>
#include <string>

using namespace soma::sdk;

namespace {

// One layer, a module of its own within the node: its tensors are `NAME.weight` and `NAME.bias`.
struct Layer : Module {
    Layer(Module& parent, std::string_view name, Init& init, std::int64_t in, std::int64_t out)
        : Module{parent, name}, weight{parameter("weight", init.uniform({out, in}, 1 / std::sqrt(double(in))))},
          bias{parameter("bias", init.uniform({out}, 1 / std::sqrt(double(in))))} {}

    Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }

    const Tensor& weight;
    const Tensor& bias;
};

struct Mlp : Node {
    static NodeType describe() {
        return NodeType{"golden.mlp"}
            .doc("Two linear layers with tanh between them.")
            .config(Int("in").defaults(3).min(1).doc("size of the input's last dimension"))
            .config(Int("hidden").defaults(4).min(1).doc("size between the layers"))
            .config(Int("out").defaults(2).min(1).doc("size of the result's last dimension"))
            .input("x", Kind::tensor, "a tensor [..., in]")
            .output("y", Kind::tensor, "a tensor [..., out]")
            .example(R"({"tensor": [[1.0, 2.0, 4.0]]})")
            .differentiable();
    }

    explicit Mlp(const Create& create)
        : Node{create}, init_{create}, first_{*this, "first", init_, create.config().get_int("in"),
                                              create.config().get_int("hidden")},
          second_{*this, "second", init_, create.config().get_int("hidden"), create.config().get_int("out")} {}

    Value forward(const Ctx& ctx, const Value& input) {
        Tensor x{input, "the input"};
        const std::string device{ctx.device().value_or(x.device())}; // unplaced: where the input is
        to(device);                                                  // the parameters go there
        x = x.to(device);                                            // and the input
        return second_(tanh(first_(x)));                             // so that is where the result is
    }

private:
    Init init_;
    Layer first_;
    Layer second_;
};

} // namespace

SOMA_PLUGIN(Plugin("golden-mlp", "1.0").doc("Two layers over the SDK").license("Apache-2.0"), Mlp)

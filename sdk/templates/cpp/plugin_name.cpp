// The plugin plugin_name: one node type, plugin_name.scale.
#include <soma/sdk.h>

#include <string>

using namespace soma::sdk;

namespace {

struct Scale : Node {
    static NodeType describe() {
        return NodeType{"plugin_name.scale"}
            .doc("Multiplies its input by a trained number.")
            .config(Float("by").defaults(2.0).doc("what to multiply by before any training"))
            .input("x", Kind::tensor, "any tensor of floats")
            .output("y", Kind::tensor, "of the same shape, on the node's device")
            .example(R"({"tensor": [1.0, -2.0]})")
            .differentiable();
    }

    explicit Scale(const Create& create)
        : Node{create}, by_{parameter("by", full({1}, create.config().get_float("by")))} {}

    Value forward(const Ctx& ctx, const Value& input) {
        // Obeying a placement. `obey(ctx, *this, input)` does the same in one call.
        Tensor x{input, "the input"};
        const std::string device{ctx.device().value_or(x.device())}; // unplaced: where the input is
        to(device);                                                  // the parameters go there
        x = x.to(device);                                            // and the input
        return x * by_;                                              // so that is where the result is
    }

private:
    const Tensor& by_;
};

} // namespace

SOMA_PLUGIN(Plugin("plugin_name", "0.1.0").doc("Nodes of plugin_name."), Scale)

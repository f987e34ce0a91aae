// The plugin plugin_name: one node type, plugin_name.scale, written with libtorch itself.
#include <ATen/ATen.h>

#include <soma/sdk.h>
#include <soma/sdk/torch.h>

#include <string>

using namespace soma::sdk;

namespace {

struct Scale : Node {
    static NodeType describe() {
        return NodeType{"plugin_name.scale"}
            .doc("Multiplies its input by a number.")
            .config(Float("by").defaults(2.0).doc("what to multiply by"))
            .input("x", Kind::tensor, "any tensor of floats")
            .output("y", Kind::tensor, "of the same shape, on the node's device")
            .example(R"({"tensor": [1.0, -2.0]})")
            .reentrant()
            .differentiable();
    }

    explicit Scale(const Create& create) : Node{create}, by_{create.config().get_float("by")} {}

    Value forward(const Ctx& ctx, const Value& input) {
        // Obeying a placement: the input goes to where the node must run. A tensor that is made on the way needs the
        // device said, `at::zeros(sizes, x.options())`, for libtorch's default is the cpu.
        at::Tensor x = to_torch(input);
        if (const auto device = ctx.device()) x = x.to(at::Device(std::string{*device}));
        return from_torch(at::mul(x, by_));
    }

private:
    double by_;
};

} // namespace

SOMA_PLUGIN(Plugin("plugin_name", "0.1.0").doc("Nodes of plugin_name."), Scale)

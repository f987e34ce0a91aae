// The plugin plugin_name: one node type, plugin_name.scale, written with libtorch itself.
#include <ATen/ATen.h>

#include <soma/ext/torch.h>
#include <soma/sdk.h>

#include <string>

using namespace soma::sdk;

namespace {

/// The way from the host's values to libtorch's tensors and back.
class Torch {
public:
    Torch() : table_{static_cast<const soma_torch*>(host_extension(SOMA_EXT_TORCH))} {
        if (table_ == nullptr) throw Error{Code::unimplemented, "this host has no extension " SOMA_EXT_TORCH};
    }
    /// The tensor of a value: shared with it, so never to be written to.
    at::Tensor tensor(const Value& value) const {
        const void* lent = nullptr;
        check(table_->tensor_get(host(), value.get(), &lent));
        return *static_cast<const at::Tensor*>(lent);
    }
    /// A value that shares the tensor.
    Value value(const at::Tensor& tensor) const {
        soma_value* made = nullptr;
        check(table_->tensor_make(host(), &tensor, &made));
        return Value::adopt(made);
    }

private:
    const soma_torch* table_;
};

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
        at::Tensor x = torch_.tensor(input);
        if (const auto device = ctx.device()) x = x.to(at::Device(std::string{*device}));
        return torch_.value(at::mul(x, by_));
    }

private:
    Torch torch_;
    double by_;
};

} // namespace

SOMA_PLUGIN(Plugin("plugin_name", "0.1.0").doc("Nodes of plugin_name."), Scale)

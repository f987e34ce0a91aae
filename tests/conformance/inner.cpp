// SPDX-License-Identifier: Apache-2.0
#include <soma/sdk.h>

#include "conformance/helpers.h"

/// Nodes that hold a pipeline of their own.
namespace inner {

namespace sdk = soma::sdk;

soma::Value to_host(const sdk::Value& value) { return soma::Value::share(value.get()); }
sdk::Value from_host(soma::Value value) { return sdk::Value::adopt(value.release()); }

/// Runs the pipeline that its configuration wires, with its input.
class Run : public sdk::Node {
public:
    static sdk::NodeType describe() {
        return sdk::NodeType{"inner.run"}
            .doc("Runs a pipeline.")
            .config(sdk::String("wire").required())
            .config(sdk::Int("jobs").defaults(1))
            .config(sdk::Int("seed").defaults(-1))
            .differentiable();
    }
    explicit Run(const sdk::Create& create)
        : Node{create}, seed_{create.config().get_int("seed")},
          pipeline_{soma::test::pipeline(create.config().get_string("wire"),
                                         static_cast<std::size_t>(create.config().get_int("jobs")))} {}
    sdk::Value forward(const sdk::Ctx&, const sdk::Value& input) {
        soma::RunOptions options;
        if (seed_ >= 0) options.seed = static_cast<std::uint64_t>(seed_);
        return from_host(pipeline_.run(to_host(input), options));
    }

private:
    std::int64_t seed_;
    soma::Pipeline pipeline_;
};

/// Runs the pipeline it is itself a node of.
class Again : public sdk::Node {
public:
    static sdk::NodeType describe() { return sdk::NodeType{"inner.again"}.doc("Runs itself."); }
    using Node::Node;
    sdk::Value forward(const sdk::Ctx&, const sdk::Value& input) {
        return from_host(soma::test::running_again->run(to_host(input)));
    }
};

} // namespace inner

SOMA_PLUGIN(soma::sdk::Plugin("inner", "1.0.0").doc("Nodes that hold pipelines."), inner::Run, inner::Again)

namespace soma::test {

const soma_entry& inner_plugin = soma_plugin_entry;
Pipeline* running_again = nullptr;

} // namespace soma::test

// SPDX-License-Identifier: Apache-2.0
#include <map>

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

std::map<std::int64_t, soma::test::Act>& acts() {
    static std::map<std::int64_t, soma::test::Act> all;
    return all;
}

/// Does what the test told it to.
class Do : public sdk::Node {
public:
    static sdk::NodeType describe() {
        return sdk::NodeType{"inner.do"}
            .doc("Does what a test says.")
            .config(sdk::Int("act").required())
            .reentrant()
            .differentiable();
    }
    explicit Do(const sdk::Create& create) : Node{create}, act_{acts().at(create.config().get_int("act"))} {}
    sdk::Value forward(const sdk::Ctx& ctx, const sdk::Value& input) {
        return from_host(act_(*ctx.get(), to_host(input)));
    }

private:
    const soma::test::Act& act_;
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

SOMA_PLUGIN(soma::sdk::Plugin("inner", "1.0.0").doc("Nodes that hold pipelines."), inner::Run, inner::Do, inner::Again)

namespace soma::test {

const soma_entry& inner_plugin = soma_plugin_entry;
Pipeline* running_again = nullptr;

Wire doing(Act act) {
    const auto number = static_cast<std::int64_t>(inner::acts().size());
    inner::acts().emplace(number, std::move(act));
    return node("inner.do", {{"act", number}});
}

} // namespace soma::test

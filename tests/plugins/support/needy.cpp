// SPDX-License-Identifier: Apache-2.0
// A plugin that needs more of its host than any host has.
#include <soma/sdk.h>

namespace needy {
namespace {

using namespace soma::sdk;

struct Waits : Node {
    static NodeType describe() { return NodeType{"needy.waits"}.doc("It is never made."); }
    using Node::Node;
    Value forward(const Ctx&, const Value& input) { return input; }
};

} // namespace
} // namespace needy

SOMA_PLUGIN(soma::sdk::Plugin("needy", "1.0.0")
                .doc("It asks for much.")
                .requires_feature(41, "time travel")
                .requires_feature(63, "wishes"),
            needy::Waits)

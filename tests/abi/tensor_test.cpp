// SPDX-License-Identifier: Apache-2.0
// Tensors through the interface, by a plugin in plain C.
#include <string>
#include <thread>

#include "abi/support.h"
#include "soma/detail/engine.h"
#include "soma/detail/value_rep.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

Value tensor(const char* json) { return tensors_from_json(parse_json(json)); }

std::shared_ptr<Instance> linear(const Catalog& catalog, std::optional<Device> device = {}) {
    return make(catalog, "golden.linear", Value::dict({{"in", 3}, {"out", 2}}), device);
}

} // namespace

TEST_CASE("tensors are read from JSON and written as JSON") {
    const Value value = tensor(R"([{"tensor": [[1, 2], [3, 4]], "dtype": "float64"}, 5])");
    REQUIRE(value.at(0).kind() == Kind::tensor);
    CHECK(to_json(value.at(0)) == R"({"tensor": [[1.0, 2.0], [3.0, 4.0]], "dtype": "float64", "device": "cpu"})");
    CHECK(summary(value.at(0)) == "tensor float64[2, 2] on cpu");
    CHECK(to_json(tensors_from_json(parse_json(to_json(value)))) == to_json(value));
    const Value on_meta = tensor(R"({"tensor": [1.5, 2.5], "device": "meta"})");
    CHECK(to_json(on_meta) == R"({"tensor": null, "shape": [2], "dtype": "float32", "device": "meta"})");
    CHECK_THROWS_AS(tensor(R"({"tensor": [[1], [2, 3]]})"), ValueError);
    CHECK_THROWS_AS(tensor(R"({"tensor": [1], "dtype": "float33"})"), ValueError);
    CHECK_THROWS_AS(tensor(R"({"tensor": [1], "device": "cude:0"})"), DeviceError);
}

TEST_CASE("a plugin in C calls an operator and shows its parameters") {
    const Catalog catalog = catalog_of("golden_linear");
    const auto node = linear(catalog);
    const auto state = node->state();
    REQUIRE(state.size() == 2);
    CHECK(state[0].name == "weight");
    CHECK(state[0].parameter);
    CHECK(state[0].persistent);
    CHECK(to_json(*parse_json(to_json(state[0].value)).find("tensor")) == "[[0.5, 0.75, 1.0], [1.25, 1.5, 1.75]]");
    CHECK(to_json(*parse_json(to_json(state[1].value)).find("tensor")) == "[1.0, 2.0]");
    const Value result = run(*node, tensor(R"({"tensor": [[1.0, 2.0, 4.0]]})"));
    CHECK(to_json(*parse_json(to_json(result)).find("tensor")) == "[[7.0, 13.25]]");
    CHECK(detail::require_engine().requires_grad(result.handle()->payload));
}

TEST_CASE("a plugin in C obeys the device that it is told (meta)") {
    const Catalog catalog = catalog_of("golden_linear");
    const auto node = linear(catalog);
    detail::RunContext context{};
    context.ctx.device = "cpu";
    context.ctx.place = {SOMA_DEVICE_CPU, 0};
    const Value x = tensor(R"({"tensor": [[1.0, 2.0, 4.0]]})");
    CHECK(summary(run(*node, x, context)) == "tensor float32[1, 2] on cpu");
    // What holds no data cannot be moved to in place; the host runs a fresh instance there, with parameters on meta.
    for (const State& state : node->state()) {
        soma_value* there = nullptr;
        REQUIRE(detail::require_engine().to_meta(state.value.handle(), &there) == nullptr);
        node->set_state(state.name, Value::adopt(there));
    }
    const Value meta_x = tensor(R"({"tensor": [[1.0, 2.0, 4.0]], "device": "meta"})");
    CHECK(summary(run(*node, meta_x)) == "tensor float32[1, 2] on meta");
}

TEST_CASE("state is replaced by name and an unknown name offers the nearest") {
    const Catalog catalog = catalog_of("golden_linear");
    const auto node = linear(catalog);
    node->set_state("bias", tensor(R"({"tensor": [0.0, 10.0]})"));
    const Value result = run(*node, tensor(R"({"tensor": [1.0, 2.0, 4.0]})"));
    CHECK(to_json(*parse_json(to_json(result)).find("tensor")) == "[6.0, 21.25]");
    CHECK_THROWS_WITH(node->set_state("wieght", result),
                      "node `n1` has no state `wieght` (did you mean `weight`?) (plugin `golden-linear`)");
}

TEST_CASE("a wrong argument is the plugin's failure with the operator's words") {
    const Catalog catalog = catalog_of("golden_linear");
    const auto node = linear(catalog);
    const std::string told = thrown<ValueError>([&] { run(*node, "not a tensor"); });
    INFO(told);
    CHECK(told.find("linear") != std::string::npos);
    CHECK(told.find("string") != std::string::npos);
}

TEST_CASE("memory that a plugin lends to a tensor goes back to the plugin") {
    const Catalog catalog = catalog_of("sides");
    const auto node = make(catalog, "sides.node");
    const auto blocks = [&] { return run(*node, "count").as_int(); };
    {
        const Value lent = run(*node, "tensor");
        CHECK(to_json(*parse_json(to_json(lent)).find("tensor")) == "[0.5, 1.5, 2.5, 3.5]");
        CHECK(blocks() == 2);
    }
    CHECK(blocks() == 1);
    // Given up last by a thread that knows nothing of the plugin.
    Value lent = run(*node, "tensor");
    std::thread([taken = std::move(lent)]() mutable { taken = Value(); }).join();
    CHECK(blocks() == 1);
}

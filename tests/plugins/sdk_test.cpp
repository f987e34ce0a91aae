// SPDX-License-Identifier: Apache-2.0
// What the SDK promises node authors, seen from the host: context, values, state, errors.
#include "run.h"
#include "soma/error.h"
#include "soma/plugin.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

Value entry(const Value& dict, std::string_view key) {
    const Value* found = dict.find(key);
    REQUIRE(found != nullptr);
    return *found;
}

} // namespace

TEST_CASE("the context's text form shows node and device") {
    CHECK(entry(run("sample.ctx.named(\"encoder\").on(\"cpu\")"), "text") == Value{"Ctx(node=encoder, device=cpu)"});
    CHECK(entry(run("sample.ctx.named(\"encoder\")"), "text") == Value{"Ctx(node=encoder, device=none)"});
}

TEST_CASE("an unplaced node's device is absent in the SDK") {
    const Value ctx = run("sample.ctx");
    CHECK(entry(ctx, "device").is_none());
    CHECK(entry(ctx, "placed") == Value{false});
    const Value placed = run("sample.ctx.on(\"cpu\")");
    CHECK(entry(placed, "device") == Value{"cpu"});
    CHECK(entry(placed, "placed") == Value{true});
}

TEST_CASE("the context tells the SDK of training and cancelling and the host") {
    Pipeline pipeline = somatize("sample.ctx", catalog());
    CHECK(entry(pipeline.run({}), "training") == Value{false});
    RunOptions options;
    options.training = true;
    CHECK(entry(pipeline.run({}, options), "training") == Value{true});
    CHECK(entry(pipeline.run({}), "cancelled") == Value{false});
    CHECK(holds(entry(pipeline.run({}), "host").as_string(), "somatize"));
}

TEST_CASE("the SDK takes apart and builds every kind of value") {
    const Value all = Value::list({Value{}, true, -5, 1.5, "text \u00e9", std::string_view{"a\0b", 3},
                                   Value::bytes(std::as_bytes(std::span{"x\0y", 3})), Value::list({}), Value::dict({}),
                                   Value::dict({{"a", 1}, {"", Value::list({Value::dict({{"deep", "er"}})})}})});
    const Value echo = run("sample.echo", all);
    CHECK(echo == all);
    CHECK(echo.handle() != all.handle());
    CHECK(echo.at(9).key(0) == "a");
}

TEST_CASE("a forward that takes a tensor is given one and any other input is refused by name") {
    CHECK(run_json("sample.doubles", R"({"tensor": [1.5, -2.0], "dtype": "float32"})") ==
          run_json("sample.echo", R"({"tensor": [3.0, -4.0], "dtype": "float32"})"));
    CHECK(failure("sample.doubles.named(\"twice\")", "hello") ==
          "node `twice` failed: the input must be a tensor, not a string");
}

TEST_CASE("an opaque value that only knows where it is must be where its node was placed") {
    // Places by number: 1 is cpu, 3 is meta, 2 is cuda.
    CHECK(failure("sample.box(kind=3).named(\"boxer\").on(\"cpu\")") ==
          "node `boxer` failed: it declared `cpu` but returned a value on `meta`");
    CHECK(failure("sample.box(kind=2, index=1).named(\"boxer\").on(\"cpu\")") ==
          "node `boxer` failed: it declared `cpu` but returned a value on `cuda:1`");
    CHECK(run("sample.box(kind=1).on(\"cpu\")").opaque_type() == "sample.box/1");
    CHECK(run("sample.box(kind=3)").kind() == Kind::opaque);
}

TEST_CASE("an opaque value is unwrapped by its type and by no other") {
    CHECK(run("sample.note.on(\"cpu\") >> sample.unwrap", "hello").as_string() == "hello");
    const std::string message = failure("sample.box(kind=1) >> sample.unwrap");
    CHECK(holds(message, "sample.box/1"));
    CHECK(holds(message, "sample.note/1"));
}

TEST_CASE("a node that ignores its device is caught (meta)") {
    CHECK(failure("sample.stays.on(\"meta\")") ==
          "node `stays` failed: it declared `meta` but returned a value on `cpu` (at `[1].mask`)");
}

TEST_CASE("what a node throws arrives with its text") {
    CHECK(failure("sample.throws(what=\"error\")") == "node `throws` failed: the well is dry");
    CHECK(failure("sample.throws(what=\"std\")") == "node `throws` failed: a standard exception");
    CHECK(failure("sample.throws(what=\"int\")") == "node `throws` failed: an exception of type `int` was thrown");
    CHECK(failure("sample.throws(what=\"memory\")") == "node `throws` failed: out of memory");
    CHECK(holds(failure("sample.throws(what=\"config\")"), "configuration `dim` must be an int, not a string"));
}

TEST_CASE("what the host said of a plugin's mistake passes through the SDK") {
    const std::string message = failure("sample.throws(what=\"host\")");
    CHECK(holds(message, "int"));
    CHECK(holds(message, "string"));
    const std::string cause = failure("sample.throws(what=\"cause\")");
    CHECK(holds(cause, "the outer reason"));
    CHECK(holds(cause, message.substr(message.find(": ") + 2)));
    CHECK(holds(failure("sample.throws(what=\"operator\")"), "aten::matmul"));
}

TEST_CASE("what a node's constructor throws names the node") {
    const std::string message = failure("sample.throws(what=\"std\", when_made=true).named(\"broken\")");
    CHECK(holds(message, "`broken`"));
    CHECK(holds(message, "a standard exception"));
}

TEST_CASE("a pipeline is usable after a node threw") {
    Pipeline pipeline = somatize("sample.throws(what=\"std\") | sample.ctx", catalog());
    CHECK_THROWS_AS(pipeline.run({}), NodeError);
    CHECK_THROWS_AS(pipeline.run({}), NodeError);
}

TEST_CASE("parameters and buffers of parts have dotted names") {
    const Pipeline pipeline = somatize("sample.keeps", catalog());
    std::vector<std::string> names;
    for (const State& state : pipeline.state()) {
        names.push_back(state.name + (state.parameter ? " parameter" : " buffer") +
                        (state.persistent ? "" : " not saved"));
    }
    CHECK(names == std::vector<std::string>{"keeps.weight parameter", "keeps.part.scale parameter",
                                            "keeps.steps buffer", "keeps.scratch buffer not saved"});
    CHECK(pipeline.parameters().size() == 2);
}

TEST_CASE("state is replaced by name and what does not fit is refused by name") {
    Pipeline pipeline = somatize("sample.keeps", catalog());
    Instance& instance = pipeline.instance("keeps");
    const auto tensor = [](std::string_view text) { return tensors_from_json(parse_json(text)); };
    instance.set_state("weight", tensor(R"({"tensor": [2.0, 3.0]})"));
    instance.set_state("part.scale", tensor(R"({"tensor": [1.0, 10.0]})"));
    CHECK(numbers(pipeline.run(parse_json("[1, 1]"))) == std::vector<double>{3, 32});
    const auto refused = [&](std::string_view name, const Value& value) {
        try {
            instance.set_state(name, value);
        } catch (const Error& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    CHECK(holds(refused("wieght", tensor(R"({"tensor": [2.0, 3.0]})")), "`weight`"));
    CHECK(holds(refused("weight", tensor(R"({"tensor": [2.0]})")),
                "`weight` is float32 [2], and cannot be set to float32 [1]"));
    CHECK(holds(refused("steps", tensor(R"({"tensor": [2.0, 1.0]})")),
                "`steps` is int64 [2], and cannot be set to float32 [2]"));
    CHECK(holds(refused("weight", 5), "`weight` must be a tensor, not an int"));
}

TEST_CASE("random numbers follow from the run's seed and the node") {
    const auto noise = [](std::string_view wire, std::uint64_t seed) {
        RunOptions options;
        options.seed = seed;
        return numbers(somatize(wire, catalog()).run({}, options));
    };
    const auto first = noise("sample.noise", 1);
    CHECK(noise("sample.noise", 1) == first);
    CHECK(noise("sample.noise", 2) != first);
    CHECK(noise("sample.noise.named(\"other\")", 1) != first);
    CHECK(noise("sample.noise.on(\"cpu\")", 1) == first);
}

TEST_CASE("a node that writes to what its siblings share is stopped by name") {
    const Value input = tensors_from_json(parse_json(R"({"tensor": [1.0, 2.0]})"));
    const std::string message = failure("sample.writes.named(\"a\") | flow.identity.named(\"b\")", input);
    CHECK(holds(message, "`aten::add_` would modify its input in place"));
    CHECK(numbers(input) == std::vector<double>{1, 2});
}

TEST_CASE("the plugin's description arrives") {
    const auto type = catalog().get("sample.ctx");
    CHECK(type->plugin->name == "sample");
    CHECK(type->plugin->version == "1.2.3");
    CHECK(type->plugin->author == "the tests");
    CHECK(type->plugin->license == "Apache-2.0");
    CHECK(type->plugin->url == "about:blank");
    CHECK(type->has(SOMA_NODE_REENTRANT));
    const auto bag = catalog().get("nn.bag");
    REQUIRE(bag->config.size() == 6);
    CHECK(bag->config[0].name == "dim");
    CHECK(bag->config[0].default_value == Value{256});
    CHECK(bag->config[0].minimum == 1);
    CHECK(bag->config[2].choices.size() == 2);
    CHECK(bag->has(SOMA_NODE_DIFFERENTIABLE));
    CHECK_FALSE(bag->has(SOMA_NODE_REENTRANT));
    CHECK(catalog().get("nn.linear")->config[0].required);
}

TEST_CASE("a node type's extension is asked by id") {
    const auto type = catalog().get("sample.extended");
    REQUIRE(type->functions.get_extension != nullptr);
    CHECK(type->functions.get_extension("sample.answer/1") != nullptr);
    CHECK(type->functions.get_extension("sample.answer/2") == nullptr);
    CHECK(catalog().get("sample.ctx")->functions.get_extension == nullptr);
}

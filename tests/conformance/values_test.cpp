// SPDX-License-Identifier: Apache-2.0
#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

Wire constant(const char* json) { return node("probe.constant", {{"value", parse_json(json)}}); }

} // namespace

TEST_CASE("a wave gives the list of its results in the order written") {
    auto p = pipeline(node("probe.sleep", {{"seconds", 0.03}}) >> node("probe.constant", {{"value", "slow"}}) |
                          constant("\"quick\"") | constant("[3]"),
                      2);
    for (int run = 0; run < 5; ++run) CHECK(p.run(Value()) == parse_json(R"(["slow", "quick", [3]])"));
}

TEST_CASE("a node after a wave gets the list and one after a node the value itself") {
    CHECK(
        pipeline(R"((probe.constant(value=1) | probe.constant(value=[2]) | probe.constant(value=null)) >> probe.pass)")
            .run(Value()) == parse_json("[1, [2], null]"));
    CHECK(pipeline("probe.constant(value=[7]) >> probe.pass").run(Value()) == parse_json("[7]"));
}

TEST_CASE("both readers of a wave get the list of two") {
    CHECK(pipeline("(probe.constant(value=1) | probe.constant(value=2)) >> (probe.add | probe.pass)").run(Value()) ==
          parse_json("[3, [1, 2]]"));
}

TEST_CASE("nested waves give nested order") {
    auto p = pipeline("probe.add >> ((probe.add | probe.add >> probe.add) >> probe.pass | probe.add)", 3);
    CHECK(p.run(0) == parse_json("[[2, 3], 2]"));
}

TEST_CASE("a graph that is not series parallel runs right") {
    // a → c, a → d, b → d: no nesting of sequences and waves says exactly this.
    Graph graph;
    graph.add("probe.add", {}, "a");
    graph.add("probe.add", {}, "b");
    graph.add("probe.add", {}, "c");
    graph.add("probe.add", {}, "d");
    graph.connect("a", "c");
    graph.connect("a", "d");
    graph.connect("b", "d");
    for (const std::size_t jobs : {1U, 4U}) CHECK(pipeline(graph, jobs).run(10) == parse_json("[12, 22]"));
}

TEST_CASE("the same edges by hand give the plan and the result of the wire") {
    auto wired = pipeline(R"(probe.add.named("t") >> (probe.add.named("a") | probe.pass.named("b")) >>
                             (probe.add.named("c") | probe.pass.named("d")))");
    Graph graph;
    for (const auto& [type, id] : {std::pair{"probe.add", "t"},
                                   {"probe.add", "a"},
                                   {"probe.pass", "b"},
                                   {"probe.add", "c"},
                                   {"probe.pass", "d"}}) {
        graph.add(type, {}, id);
    }
    for (const auto& [from, to] : {std::pair{"t", "a"}, {"t", "b"}, {"a", "c"}, {"b", "c"}, {"a", "d"}, {"b", "d"}}) {
        graph.connect(from, to);
    }
    auto built = pipeline(graph);
    CHECK(built.plan().str() == wired.plan().str());
    CHECK(built.run(1) == wired.run(1));
    CHECK(built.run(1) == parse_json("[5, [3, 2]]"));
}

TEST_CASE("a value is released after its last reader") {
    auto p = pipeline(node("probe.counted") >> node("probe.constant", {{"value", 1}}) >>
                      node("probe.counted", {{"count", true}}));
    CHECK(p.run(Value()) == Value(0));
    auto wave = pipeline(node("probe.counted") >> (node("probe.constant", {{"value", 1}}) | node("probe.add")) >>
                         node("probe.counted", {{"count", true}}));
    CHECK_THROWS_AS(wave.run(Value()), NodeError); // an opaque value is no number
    CHECK(counted() == 0);
}

TEST_CASE("a value that siblings read is released after the last of them") {
    auto p = pipeline(node("probe.counted") >>
                          (node("probe.constant", {{"value", 1}}) | node("probe.constant", {{"value", 2}})) >>
                          node("probe.counted", {{"count", true}}),
                      2);
    for (int run = 0; run < 100; ++run) REQUIRE(p.run(Value()) == Value(0));
    CHECK(counted() == 0);
}

TEST_CASE("a value is kept after its last reader when it is asked to be") {
    auto p = pipeline(node("probe.add").named("a") >> (node("probe.add").named("b") | node("probe.add").named("c")) >>
                      node("probe.add").named("d"));
    std::vector<Value> kept;
    RunOptions options;
    options.keep = {"c", "a", "d"};
    options.kept = &kept;
    CHECK(p.run(0, options) == Value(4));
    CHECK(kept == std::vector<Value>{2, 1, 4});
    CHECK(p.run(0) == Value(4));

    options.keep = {"cc"};
    CHECK(error_of<GraphError>([&] { p.run(0, options); }) == "no node `cc` to be kept (did you mean `c`?)");
}

TEST_CASE("what was kept before a failure is there and the rest is none") {
    auto p = pipeline(node("probe.add").named("a") >> node("probe.fail") >> node("probe.add").named("z"));
    std::vector<Value> kept;
    RunOptions options;
    options.keep = {"a", "z"};
    options.kept = &kept;
    CHECK_THROWS_AS(p.run(0, options), NodeError);
    CHECK(kept == std::vector<Value>{1, Value()});
}

TEST_CASE("nothing is left alive after a run that failed") {
    auto p = pipeline(node("probe.counted") >> (node("probe.pass") >> node("probe.fail") | node("probe.pass")) >>
                          node("probe.pass"),
                      2);
    for (int run = 0; run < 50; ++run) {
        CHECK_THROWS_AS(p.run(Value()), NodeError);
        REQUIRE(counted() == 0);
    }
}

TEST_CASE("every kind of value goes through a graph as it was") {
    const std::byte raw[] = {std::byte{0}, std::byte{255}, std::byte{10}};
    const Value all = Value::dict({{"none", Value()},
                                   {"bool", true},
                                   {"int", std::numeric_limits<std::int64_t>::min()},
                                   {"float", -0.5},
                                   {"text", "grüße\n"},
                                   {"bytes", Value::bytes(raw)},
                                   {"list", Value::list({})},
                                   {"z", Value::dict({})},
                                   {"a", Value::list({1, Value::list({Value()}), Value::dict({{"k", "v"}})})}});
    auto p = pipeline("probe.pass >> (probe.pass | probe.pass >> probe.pass)", 2);
    const Value result = p.run(all);
    CHECK(result.at(0) == all);
    CHECK(result.at(1) == all);
    CHECK(result.at(1).key(7) == "z");
    CHECK(result.at(1).key(8) == "a");
}

TEST_CASE("a pipeline without nodes gives an empty list") { CHECK(pipeline(Graph()).run(5) == parse_json("[]")); }

TEST_CASE("a long chain and a wide wave run") {
    Graph chain;
    chain.add("probe.add", {}, "n0");
    for (int i = 1; i < 3000; ++i) {
        chain.add("probe.add", {}, "n" + std::to_string(i));
        chain.connect("n" + std::to_string(i - 1), "n" + std::to_string(i));
    }
    CHECK(pipeline(chain).run(0) == Value(3000));

    Graph wide;
    wide.add("probe.add", {}, "first");
    wide.add("probe.add", {}, "last");
    for (int i = 0; i < 500; ++i) {
        const std::string id = "n" + std::to_string(i);
        wide.add("probe.add", {}, id);
        wide.connect("first", id);
        wide.connect(id, "last");
    }
    CHECK(pipeline(wide, 4).run(0) == Value(1000));
}

// SPDX-License-Identifier: Apache-2.0
#include "soma/plan.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "soma/error.h"
#include "soma/json.h"
#include "soma/wire.h"
#include "support/catch.h"
#include "support/plans.h"

using soma::Graph;
using soma::Plan;
using soma::test::graph_of;
using soma::test::named;
using soma::test::Order;
using soma::test::Random;

namespace {

std::string planned(const soma::Wire& wire) { return soma::compile(soma::build(wire).graph).to_json(); }

std::string error_of(const Graph& graph) {
    try {
        static_cast<void>(soma::compile(graph));
    } catch (const soma::GraphError& error) {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("the branches of a wave stand between what they read and what reads them") {
    const auto x = named("x"), a = named("a"), b = named("b"), c = named("c");
    CHECK(planned(x >> (a | b) >> c) == R"({"sequence": ["x", {"wave": ["a", "b"]}, "c"]})");
}

TEST_CASE("a chain is one sequence") {
    CHECK(planned(named("a") >> named("b") >> named("c")) == R"({"sequence": ["a", "b", "c"]})");
    CHECK(planned(named("a")) == R"({"sequence": ["a"]})");
}

TEST_CASE("a branch of several nodes is a sequence within the wave and waves nest") {
    const auto x = named("x"), a = named("a"), b = named("b"), c = named("c"), d = named("d"), e = named("e");
    CHECK(planned(x >> (a >> (b | c) >> d | e)) ==
          R"({"sequence": ["x", {"wave": [{"sequence": ["a", {"wave": ["b", "c"]}, "d"]}, "e"]}]})");
}

TEST_CASE("disconnected parts are branches of a wave at the root") {
    CHECK(planned(named("a") >> named("b") | named("c")) ==
          R"({"sequence": [{"wave": [{"sequence": ["a", "b"]}, "c"]}]})");
}

TEST_CASE("an empty graph has an empty plan") {
    const Plan plan = soma::compile(Graph());
    CHECK(plan.steps.empty());
    CHECK(plan.results.empty());
    CHECK(plan.str().empty());
    CHECK(plan.width() == 0);
    CHECK(plan.to_json() == R"({"sequence": []})");
}

TEST_CASE("every pair of two waves joined by then runs as two waves") {
    const auto a = named("a"), b = named("b"), c = named("c"), d = named("d");
    const auto wired = soma::build((a | b) >> (c | d));
    const Plan plan = soma::compile(wired.graph);
    CHECK(plan.to_json() == R"({"sequence": [{"wave": ["a", "b"]}, {"wave": ["c", "d"]}]})");
    CHECK(plan.reads == std::vector<std::uint32_t>{Plan::graph_input, Plan::graph_input, 0, 1, 0, 1});
    CHECK(plan.results == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("a graph built by hand with the edges of a wire compiles to the same plan") {
    const auto a = named("a"), b = named("b"), c = named("c"), d = named("d");
    const Plan wired = soma::compile(soma::build((a | b) >> (c | d)).graph);
    Graph graph;
    for (const auto* id : {"a", "b", "c", "d"}) graph.add("test.node", {}, id);
    for (const auto* to : {"d", "c"}) {
        for (const auto* from : {"a", "b"}) graph.connect(from, to);
    }
    CHECK(soma::compile(graph) == wired);
}

TEST_CASE("a node reads its inputs in the order they were connected") {
    Graph graph;
    for (const auto* id : {"a", "b", "c"}) graph.add("test.node", {}, id);
    graph.connect("b", "c");
    graph.connect("a", "c");
    const Plan plan = soma::compile(graph);
    CHECK(plan.to_json() == R"({"sequence": [{"wave": ["a", "b"]}, "c"]})");
    CHECK(plan.reads == std::vector<std::uint32_t>{Plan::graph_input, Plan::graph_input, 1, 0});
}

TEST_CASE("a skip connection leaves waves as they are") {
    // x feeds a branch, a wave and, past both, the join.
    const Graph graph = graph_of({{"x", "a"}, {"x", "b"}, {"a", "y"}, {"b", "y"}, {"x", "y"}});
    CHECK(soma::compile(graph).to_json() == R"({"sequence": ["x", {"wave": ["a", "b"]}, "y"]})");
}

TEST_CASE("nested skip connections leave the chain a sequence") {
    const Graph graph =
        graph_of({{"e1", "e2"}, {"e2", "e3"}, {"e3", "d3"}, {"d3", "d2"}, {"d2", "d1"}, {"e1", "d1"}, {"e2", "d2"}});
    CHECK(soma::compile(graph).to_json() == R"({"sequence": ["e1", "e2", "e3", "d3", "d2", "d1"]})");
}

TEST_CASE("every layer that reads all before it is a sequence") {
    Graph graph;
    for (int i = 0; i < 30; ++i) {
        graph.add("test.node");
        for (int j = 0; j < i; ++j) graph.connect(static_cast<Graph::Index>(j), static_cast<Graph::Index>(i));
    }
    const Plan plan = soma::compile(graph);
    CHECK(plan.steps.size() == 31);
    CHECK(plan.width() == 1);
}

TEST_CASE("a part that is not series parallel is a sequence and its neighbours stay a wave") {
    // An N of a, b, c, d beside e, between x and y.
    const Graph graph = graph_of(
        {{"x", "a"}, {"x", "b"}, {"a", "c"}, {"b", "c"}, {"b", "d"}, {"c", "y"}, {"d", "y"}, {"x", "e"}, {"e", "y"}});
    CHECK(soma::compile(graph).to_json() ==
          R"({"sequence": ["x", {"wave": [{"sequence": ["a", "b", "c", "d"]}, "e"]}, "y"]})");
}

TEST_CASE("a wave inside a part that is not series parallel stays a wave") {
    // The N again, where c is a wave of two with a skip past it.
    const Graph graph =
        graph_of({{"a", "p"}, {"b", "p"}, {"b", "d"}, {"p", "q"}, {"p", "r"}, {"q", "s"}, {"r", "s"}, {"p", "s"}});
    CHECK(soma::compile(graph).to_json() == R"({"sequence": ["a", "b", "p", {"wave": ["q", "r"]}, "s", "d"]})");
}

TEST_CASE("branches stand in the order of the first node in each") {
    Graph graph;
    for (const auto* id : {"late", "a", "b", "early"}) graph.add("test.node", {}, id);
    graph.connect("early", "a"); // so that the numbers are no topological order
    graph.connect("early", "b");
    graph.connect("a", "late");
    graph.connect("b", "late");
    CHECK(soma::compile(graph).to_json() == R"({"sequence": ["early", {"wave": ["a", "b"]}, "late"]})");

    Graph apart;
    for (const auto* id : {"c", "z", "a", "y"}) apart.add("test.node", {}, id);
    apart.connect("y", "c"); // {c, y} begins with c
    apart.connect("a", "z");
    CHECK(soma::compile(apart).to_json() ==
          R"({"sequence": [{"wave": [{"sequence": ["y", "c"]}, {"sequence": ["a", "z"]}]}]})");
}

TEST_CASE("the results are the sinks in the order written") {
    const auto x = named("x"), a = named("a"), b = named("b");
    const Plan plan = soma::compile(soma::build(x >> (b | a)).graph);
    REQUIRE(plan.results.size() == 2);
    CHECK(plan.nodes[plan.results[0]] == "b");
    CHECK(plan.nodes[plan.results[1]] == "a");
}

TEST_CASE("a cycle is an error that prints it") {
    CHECK(error_of(graph_of({{"a", "b"}, {"b", "c"}, {"c", "a"}})) == "the graph has a cycle: a -> b -> c -> a");
    // What leads in and out of it is left out, and of two the shorter one is shown.
    CHECK(error_of(graph_of({{"x", "a"}, {"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "a"}, {"c", "y"}, {"d", "c"}})) ==
          "the graph has a cycle: c -> d -> c");
    CHECK(error_of(graph_of({{"x", "a"}, {"a", "y"}})) == "no error");
}

TEST_CASE("a long cycle is printed with its middle left out") {
    Graph graph;
    for (int i = 0; i < 1000; ++i) graph.add("test.n");
    for (Graph::Index i = 0; i < 1000; ++i) graph.connect(i, (i + 1) % 1000);
    CHECK(error_of(graph) ==
          "the graph has a cycle: n -> n_2 -> n_3 -> n_4 -> n_5 -> n_6 -> n_7 -> n_8 -> n_9 -> n_10 -> "
          "(980 more) -> n_991 -> n_992 -> n_993 -> n_994 -> n_995 -> n_996 -> n_997 -> n_998 -> n_999 "
          "-> n_1000 -> n");
}

TEST_CASE("a plan as text has a line for each sequence and wave and node") {
    const auto x = named("x"), a = named("a"), b = named("b"), c = named("c");
    CHECK(soma::compile(soma::build(x >> (a >> b | c)).graph).str() == "sequence\n"
                                                                       "  x\n"
                                                                       "  wave\n"
                                                                       "    sequence\n"
                                                                       "      a\n"
                                                                       "      b\n"
                                                                       "    c\n");
}

TEST_CASE("the width of a plan is the most branches that can be under way at once") {
    const auto x = named("x"), a = named("a"), b = named("b"), c = named("c"), d = named("d"), y = named("y");
    CHECK(soma::compile(soma::build(x >> (a >> (b | c) | d) >> y).graph).width() == 3);
    CHECK(soma::compile(soma::build(x >> y).graph).width() == 1);
}

TEST_CASE("thousands of random graphs compile to plans that respect every edge") {
    Random random(1);
    for (int round = 0; round < 4000; ++round) {
        const Graph graph = soma::test::random_dag(random, 1 + random.below(14), random.below(100));
        const Plan plan = soma::compile(graph);
        INFO(graph.to_json() << plan.str());
        REQUIRE(soma::test::what_is_wrong(graph, plan).empty());
        // Where the order among the nodes is series parallel, the plan says exactly that order: nodes are in two branches
        // of a wave if and only if neither comes before the other.
        const Order order(graph);
        if (!order.series_parallel()) continue;
        const soma::test::Places places(plan);
        for (Graph::Index a = 0; a < graph.size(); ++a) {
            for (Graph::Index b = 0; b < a; ++b) REQUIRE(places.concurrent(a, b) == !order.comparable(a, b));
        }
    }
}

TEST_CASE("random series parallel graphs compile to exactly their sequences and waves whatever edges say it again") {
    Random random(2);
    for (int round = 0; round < 600; ++round) {
        const Graph plain = soma::test::random_series_parallel(random, 2 + random.below(60));
        const Graph more = soma::test::with_redundant_edges(random, plain, random.below(60));
        const Plan plan = soma::compile(more);
        INFO(more.to_json() << plan.str());
        REQUIRE(soma::test::what_is_wrong(more, plan).empty());
        REQUIRE(plan.to_json() == soma::compile(plain).to_json());
        const Order order(more);
        REQUIRE(order.series_parallel());
        const soma::test::Places places(plan);
        for (Graph::Index a = 0; a < more.size(); ++a) {
            for (Graph::Index b = 0; b < a; ++b) REQUIRE(places.concurrent(a, b) == !order.comparable(a, b));
        }
    }
}

TEST_CASE("large random graphs compile to plans that respect every edge") {
    Random random(3);
    for (const std::size_t nodes : {1000, 20000}) {
        for (const std::size_t percent : {0, 30, 90}) {
            const Graph graph = soma::test::random_sparse_dag(random, nodes, percent);
            REQUIRE(soma::test::what_is_wrong(graph, soma::compile(graph)).empty());
        }
    }
}

TEST_CASE("a graph nested deeper than a plan may be compiles to one that is no deeper") {
    // Each level is a node before a wave of a node and the next level; then the same with the work that runs out on wide
    // ones.
    for (const std::size_t levels : {400, 3000, 40000}) {
        Graph graph;
        Graph::Index before = graph.add("test.node");
        for (std::size_t i = 0; i < levels; ++i) {
            const Graph::Index beside = graph.add("test.node");
            const Graph::Index next = graph.add("test.node");
            graph.connect(before, beside);
            graph.connect(before, next);
            before = next;
        }
        const Plan plan = soma::compile(graph);
        REQUIRE(soma::test::what_is_wrong(graph, plan).empty());
        CHECK(soma::test::depth(plan) <= Plan::max_depth + 1);
        CHECK(plan.width() >= std::min<std::size_t>(levels, Plan::max_depth / 2 - 1));
    }
}

TEST_CASE("three hundred thousand nodes compile in one go whatever their shape") {
    constexpr Graph::Index size = 300'000;
    Graph chain, fan, ladder;
    for (Graph::Index i = 0; i < size; ++i) {
        chain.add("test.n");
        fan.add("test.n");
        if (i > 0) chain.connect(i - 1, i);
        if (i > 0 && i < size - 1) fan.connect(0, i);
    }
    for (Graph::Index i = 1; i < size - 1; ++i) fan.connect(i, size - 1);
    for (Graph::Index i = 0; i < size / 10; ++i) {
        ladder.add("test.n");
        if (i >= 2) ladder.connect(i - 2, i);
        if (i % 2 == 1) ladder.connect(i - 1, i);
    }
    CHECK(soma::compile(chain).steps.size() == size + 1);
    const Plan wave = soma::compile(fan);
    CHECK(wave.steps.size() == size + 2);
    CHECK(wave.width() == size - 2);
    const Plan rungs = soma::compile(ladder);
    CHECK(soma::test::what_is_wrong(ladder, rungs).empty());
    CHECK(rungs.width() == 1);
}

// SPDX-License-Identifier: Apache-2.0
#include "soma/graph.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "soma/error.h"
#include "support/catch.h"
#include "support/plans.h"

using soma::Graph;
using soma::Value;

namespace {

std::string error_of(auto&& what) {
    try {
        what();
    } catch (const soma::GraphError& error) {
        return error.what();
    }
    return "no error";
}

Graph two() {
    Graph graph;
    graph.add("nn.encoder");
    graph.add("flow.join");
    return graph;
}

} // namespace

TEST_CASE("a node without an id is named after its type and repeats are numbered") {
    Graph graph;
    graph.add("nn.bag");
    graph.add("nn.bag");
    graph.add("nn.linear");
    graph.add("text.bag");
    graph.add("nn.bag", {}, "bag_4");
    graph.add("nn.bag");
    std::string ids;
    for (const auto& node : graph.nodes()) ids += node.id + " ";
    CHECK(ids == "bag bag_2 linear bag_3 bag_4 bag_5 ");
}

TEST_CASE("an explicit id that is taken or malformed is an error") {
    Graph graph = two();
    CHECK(error_of([&] { graph.add("nn.bag", {}, "encoder"); }) ==
          "two nodes have the id `encoder`: one of type `nn.encoder` and one of type `nn.bag`; name one of them "
          "otherwise");
    CHECK(error_of([&] { graph.add("nn.bag", {}, ""); }) ==
          "a node's id is empty; leave it out to have the node named after its type");
    CHECK(error_of([&] { graph.add("nn.bag", {}, "2nd"); }) ==
          "`2nd` cannot be a node's id: ids begin with a letter or `_`");
    CHECK(error_of([&] { graph.add("nn.bag", {}, "a b"); }) ==
          "`a b` cannot be a node's id: ids consist of letters, digits, `_`, `-` and `.`");
    CHECK(error_of([&] { graph.add("nn bag"); }).find("`nn bag` cannot be a node type") == 0);
    CHECK(error_of([&] { graph.add(""); }).find("the empty text cannot be a node type") == 0);
    CHECK(error_of([&] { graph.add("nn.bag", Value(1)); }) ==
          "the configuration of a node of type `nn.bag` is of kind int, not a dict");
    CHECK(graph.size() == 2);
    CHECK(graph.add("nn.bag", {}, "a-b.c_2") == 2);
}

TEST_CASE("connecting an unknown node offers the nearest") {
    Graph graph = two();
    CHECK(error_of([&] { graph.connect("encodr", "join"); }) ==
          "there is no node `encodr` in the graph (did you mean `encoder`?)");
    CHECK(error_of([&] { graph.connect("encoder", "xyz"); }) == "there is no node `xyz` in the graph");
    CHECK(error_of([&] { graph.connect(0, 7); }) == "there is no node number 7: the graph has 2");
    CHECK(graph.edges().empty());
}

TEST_CASE("an edge given twice and a node wired to itself are errors") {
    Graph graph = two();
    graph.connect("encoder", "join");
    CHECK(error_of([&] { graph.connect("encoder", "join"); }) ==
          "`encoder` is wired to `join` twice; a node reads another's result once");
    CHECK(error_of([&] { graph.connect("join", "join"); }) == "node `join` is wired to itself");
    CHECK(graph.edges().size() == 1);
}

TEST_CASE("an edge given twice is noticed in a dense graph too") {
    Graph graph;
    for (int i = 0; i < 200; ++i) graph.add("test.n");
    for (Graph::Index from = 0; from < 100; ++from) {
        for (Graph::Index to = 100; to < 200; ++to) graph.connect(from, to);
    }
    CHECK(graph.edges().size() == 10'000);
    CHECK(error_of([&] { graph.connect(50, 150); }).find("`n_51` is wired to `n_151` twice") == 0);
    CHECK_NOTHROW(graph.connect(0, 1));
}

TEST_CASE("inputs keep the order they were connected in") {
    Graph graph = two();
    graph.add("nn.bag");
    graph.connect("bag", "join");
    graph.connect("encoder", "join");
    REQUIRE(graph.inputs(1).size() == 2);
    CHECK(graph.inputs(1)[0] == 2);
    CHECK(graph.inputs(1)[1] == 0);
    CHECK(graph.outputs(2)[0] == 1);
}

TEST_CASE("graphs are equal when nodes and inputs are and in the same order") {
    Graph a = two();
    Graph b = two();
    CHECK(a == b);
    a.connect(0, 1);
    CHECK_FALSE(a == b);
    b.connect(0, 1);
    CHECK(a == b);
    b.set_type_version(0, 2);
    CHECK_FALSE(a == b);
}

TEST_CASE("a graph travels as JSON and comes back the same") {
    Graph graph;
    graph.add("nn.bag", Value::dict({{"dim", Value(256)},
                                     {"scale", Value(0.1)},
                                     {"name", Value("a \"quoted\" ä")},
                                     {"list", Value::list({Value(1), Value(2.0), Value(), Value(true)})},
                                     {"dict", Value::dict({{"k", Value::list({})}})}}));
    graph.add("nn.linear", {}, "a-b.c");
    graph.add("flow.join");
    graph.set_type_version(1, 7);
    graph.connect(1, 2);
    graph.connect(0, 2);
    graph.connect(0, 1);
    const Graph back = Graph::from_json(graph.to_json());
    CHECK(back == graph);
    CHECK(back.to_json() == graph.to_json());
    CHECK(Graph::from_json(Graph().to_json()) == Graph());
    CHECK(two().to_json() == "{\"nodes\": [\n"
                             "  {\"id\": \"encoder\", \"type\": \"nn.encoder\"},\n"
                             "  {\"id\": \"join\", \"type\": \"flow.join\"}\n"
                             "], \"edges\": []}\n");
}

TEST_CASE("random graphs come back the same from JSON") {
    soma::test::Random random(5);
    for (int round = 0; round < 50; ++round) {
        const Graph graph = soma::test::random_dag(random, random.below(30), random.below(60));
        REQUIRE(Graph::from_json(graph.to_json()) == graph);
    }
}

TEST_CASE("an empty configuration is the same as none") {
    Graph graph;
    graph.add("nn.bag", Value::dict({}));
    CHECK(graph.nodes()[0].config.is_none());
    CHECK(Graph::from_json(graph.to_json()) == graph);
}

TEST_CASE("a configuration that JSON cannot hold is named") {
    Graph graph;
    graph.add("nn.bag", Value::dict({{"x", Value::list({Value(std::nan(""))})}}));
    CHECK(error_of([&] { static_cast<void>(graph.to_json()); }) ==
          "the configuration of node `bag` has a float that is not finite, which JSON cannot hold");
}

TEST_CASE("a graph that is malformed says which entry is wrong and how") {
    const auto error = [](std::string_view text) {
        return error_of([&] { static_cast<void>(Graph::from_json(text)); });
    };
    CHECK(error(R"({"nodes": []})") == "the graph cannot be read: the top level: key `edges` is missing");
    CHECK(error(R"({"nodes": [], "edges": [], "edgse": []})") ==
          "the graph cannot be read: the top level: unknown key `edgse` (did you mean `edges`?)");
    CHECK(error(R"({"nodes": [{"id": "a"}], "edges": []})") ==
          "the graph cannot be read: node 0: key `type` is missing");
    CHECK(error(R"({"nodes": [{"id": "a", "type": "t.x", "confg": {}}], "edges": []})") ==
          "the graph cannot be read: node 0: unknown key `confg` (did you mean `config`?)");
    CHECK(error(R"({"nodes": [{"id": "a", "type": "t.x", "version": -1}], "edges": []})") ==
          "the graph cannot be read: node 0: `version` is not a whole number that fits 32 bits");
    CHECK(error(R"({"nodes": [{"id": "a", "type": "t.x"}, {"id": "a", "type": "t.x"}], "edges": []})")
              .find("the graph cannot be read: node 1: two nodes have the id `a`") == 0);
    CHECK(error(R"({"nodes": [{"id": "a", "type": "t.x"}], "edges": [["a", "b"]]})") ==
          "the graph cannot be read: edge 0: there is no node `b` in the graph");
    CHECK(error(R"({"nodes": [], "edges": [["a"]]})") ==
          "the graph cannot be read: edge 0: a list of two ids such as [\"a\", \"b\"] is wanted");
    CHECK(error("[]").find("the top level: an object with `nodes` and `edges` is wanted") != std::string::npos);
    CHECK(error("{").find("the graph cannot be read: JSON is not valid at 1:") == 0);
}

TEST_CASE("a graph draws itself with a second line under a node") {
    Graph graph = two();
    graph.connect(0, 1);
    const std::vector<std::string> labels{"cuda:0", ""};
    CHECK(graph.to_dot(labels) == "digraph somatize {\n"
                                  "  rankdir=LR;\n"
                                  "  node [shape=box];\n"
                                  "  \"encoder\" [label=\"encoder\\ncuda:0\", tooltip=\"nn.encoder\"];\n"
                                  "  \"join\" [label=\"join\", tooltip=\"flow.join\"];\n"
                                  "  \"encoder\" -> \"join\";\n"
                                  "}\n");
}

TEST_CASE("a hundred thousand nodes of one type are named in one go") {
    Graph graph;
    for (int i = 0; i < 100'000; ++i) graph.add("test.n");
    CHECK(graph.nodes().back().id == "n_100000");
    CHECK(graph.index("n_77777") == 77776);
}

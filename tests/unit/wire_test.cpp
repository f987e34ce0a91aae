// SPDX-License-Identifier: Apache-2.0
#include "soma/wire.h"

#include <string>
#include <thread>
#include <vector>

#include "soma/error.h"
#include "soma/plan.h"
#include "support/catch.h"
#include "support/plans.h"

using soma::build;
using soma::node;
using soma::Wire;
using soma::Wired;
using soma::test::named;

namespace {

std::string edges(const Wired& wired) {
    std::string out;
    for (const auto& edge : wired.graph.edges()) {
        out += wired.graph.nodes()[edge.from].id + ">" + wired.graph.nodes()[edge.to].id + " ";
    }
    return out;
}

std::string ids(const Wired& wired) {
    std::string out;
    for (const auto& one : wired.graph.nodes()) out += one.id + " ";
    return out;
}

std::string error_of(auto&& what) {
    try {
        what();
    } catch (const soma::Error& error) {
        return error.what();
    }
    return "no error";
}

std::string build_error(const Wire& wire) {
    return error_of([&] { static_cast<void>(build(wire)); });
}

} // namespace

TEST_CASE("on spreads over the whole piece and the innermost wins") {
    const auto a = named("a"), b = named("b"), c = named("c"), d = named("d");
    CHECK(build((a.on("cuda:0") >> b).on("cuda:1")).placement.to_json() == R"({"a": "cuda:0", "b": "cuda:1"})");
    CHECK(build(((a | b.on("cpu")) >> (c >> d).on("meta")).on("cuda:3")).placement.to_json() ==
          R"({"a": "cuda:3", "b": "cpu", "c": "meta", "d": "meta"})");
    CHECK(build(a.on("cuda:0").on("cuda:1")).placement.to_json() == R"({"a": "cuda:0"})");
}

TEST_CASE("on and named commute") {
    const Wire bag = node("nn.bag");
    const Wire other = node("nn.bag");
    const Wired first = build(bag.on("cuda:1").named("other"));
    const Wired second = build(other.named("other").on("cuda:1"));
    CHECK(first.graph == second.graph);
    CHECK(first.placement == second.placement);
}

TEST_CASE("each branch is in its own place and what is unplaced stays unplaced") {
    const Wired wired =
        build(node("text.tokenize") >> (node("nn.encoder").on("cuda:0") | node("nn.bag").named("other").on("cuda:1")) >>
              node("flow.join"));
    CHECK(wired.placement.to_json() == R"({"encoder": "cuda:0", "other": "cuda:1"})");
    CHECK_FALSE(wired.placement.of("tokenize"));
    CHECK_FALSE(wired.placement.of("join"));
}

TEST_CASE("placing changes neither the plan nor the graph") {
    const auto x = named("x"), a = named("a"), b = named("b");
    const Wired plain = build(x >> (a | b));
    const Wired placed = build((x.on("cpu") >> (a.on("cuda:0") | b.on("cuda:1"))).on("meta"));
    CHECK(placed.placement.size() == 3);
    CHECK(placed.graph == plain.graph);
    CHECK(placed.graph.to_json() == plain.graph.to_json());
    CHECK(soma::compile(placed.graph) == soma::compile(plain.graph));
}

TEST_CASE("on and placing by id say the same") {
    const Wired wired = build(named("a").on("cuda:0") >> named("b").on("meta"));
    soma::Placement placement;
    placement.place("b", soma::Device::parse("meta"));
    placement.place("a", soma::Device::parse("cuda:0"));
    CHECK(wired.placement == placement);
}

TEST_CASE("a malformed device is an error where it is written") {
    CHECK(error_of([] { static_cast<void>(node("nn.bag").on("cuda")); }) ==
          "`cuda` needs an index: write `cuda:0` for the first one");
}

TEST_CASE("then is associative and so is beside which flattens") {
    const auto make = [](auto&& join) { return build(join(named("a"), named("b"), named("c"))); };
    const auto x = named("x");
    CHECK(make([](Wire a, Wire b, Wire c) { return (a >> b) >> c; }).graph ==
          make([](Wire a, Wire b, Wire c) { return a >> (b >> c); }).graph);
    const auto left = make([&](Wire a, Wire b, Wire c) { return ((a | b) | c) >> x; });
    const auto right = make([&](Wire a, Wire b, Wire c) { return (a | (b | c)) >> x; });
    CHECK(left.graph == right.graph);
    CHECK(edges(left) == "a>x b>x c>x ");
    CHECK(soma::compile(left.graph) == soma::compile(right.graph));
}

TEST_CASE("then joins every end to every start and reads are in the order written") {
    const auto a = named("a"), b = named("b"), c = named("c"), d = named("d");
    CHECK(edges(build((a | b) >> (c | d))) == "a>c b>c a>d b>d ");
    CHECK(edges(build(a >> (b >> c | d))) == "b>c a>b a>d ");
    CHECK(edges(build((a >> b | c) >> d)) == "a>b b>d c>d ");
}

TEST_CASE("nodes are numbered and named in the order written") {
    const Wire wire = node("nn.bag") >> (node("nn.bag") | node("text.bag")) >> node("flow.join");
    CHECK(ids(build(wire)) == "bag bag_2 bag_3 join ");
}

TEST_CASE("a default id never takes an explicit one") {
    CHECK(ids(build(node("nn.bag") >> node("nn.bag") >> node("nn.bag").named("bag") >> node("nn.x").named("bag_3"))) ==
          "bag_2 bag_4 bag bag_3 ");
}

TEST_CASE("two equal explicit ids are an error") {
    CHECK(build_error(node("nn.bag").named("x") >> node("nn.relu").named("x")) ==
          "two nodes are named `x`; an id belongs to one node");
}

TEST_CASE("a name for several nodes or none that can be one is an error where it is written") {
    CHECK(error_of([] { static_cast<void>((node("a.b") >> node("a.c")).named("both")); }) ==
          "`both` cannot name a piece of several nodes; name one of its nodes");
    CHECK(error_of([] { static_cast<void>(node("a.b").named("9x")); }) ==
          "`9x` cannot be a node's id: ids begin with a letter or `_`");
    CHECK(error_of([] { static_cast<void>(node("a b")); }).find("`a b` cannot be a node type") == 0);
}

TEST_CASE("a copied wire is the same node") {
    const Wire tokens = node("text.tokenize");
    const Wire copy = tokens;
    const Wired wired = build(tokens >> node("nn.bag") | copy >> node("nn.encoder"));
    CHECK(ids(wired) == "tokenize bag encoder ");
    CHECK(edges(wired) == "tokenize>bag tokenize>encoder ");
}

TEST_CASE("a piece used twice is the same nodes and its edges are made once") {
    const Wire piece = named("a") >> named("b");
    CHECK(edges(build(piece >> named("c") | piece >> named("d"))) == "a>b b>c b>d ");
}

TEST_CASE("a piece placed in one use is placed") {
    const Wire t = named("t");
    CHECK(build(t.on("cuda:0") >> named("a") | t >> named("b")).placement.to_json() == R"({"t": "cuda:0"})");
    // The outer one is about what is not placed inside it yet.
    CHECK(build((t.on("cuda:0") >> named("a") | t >> named("b")).on("cuda:1")).placement.to_json() ==
          R"({"a": "cuda:1", "b": "cuda:1", "t": "cuda:0"})");
    CHECK(build((t >> named("b") | t.on("cuda:0") >> named("a")).on("cuda:1")).placement.to_json() ==
          R"({"a": "cuda:1", "b": "cuda:1", "t": "cuda:0"})");
    CHECK(build(t.on("cpu") >> named("a") | t.on("cpu") >> named("b")).placement.to_json() == R"({"t": "cpu"})");
}

TEST_CASE("a node placed on two devices is an error that names it") {
    const Wire t = named("t");
    CHECK(build_error(t.on("cuda:0") >> named("a") | t.on("cuda:1") >> named("b")) ==
          "node `t` is placed on both `cuda:0` and `cuda:1`; a piece used twice is the same nodes, so place it once");
    const Wire unnamed = node("nn.bag");
    CHECK(build_error((unnamed >> named("a")).on("cuda:0") | (unnamed >> named("b")).on("cuda:1"))
              .find("a node of type `nn.bag` is placed on both `cuda:0` and `cuda:1`") == 0);
}

TEST_CASE("a node named twice is an error unless the names are equal") {
    const Wire bag = node("nn.bag");
    CHECK(build_error(bag.named("x") >> named("a") | bag.named("y") >> named("b"))
              .find("one node is named both `x` and `y`") == 0);
    CHECK(ids(build(bag.named("x") >> named("a") | bag.named("x") >> named("b"))) == "x a b ");
}

TEST_CASE("what sharing can get wrong is an error that names the nodes") {
    const Wire a = named("a"), b = named("b"), c = named("c");
    CHECK(build_error(a >> a) == "node `a` is wired to itself");
    CHECK(build_error(a >> b >> a) == "the graph has a cycle: a -> b -> a");
    CHECK(build_error(a >> b >> c | c >> a) == "the graph has a cycle: a -> b -> c -> a");
    CHECK(build_error((a | a) >> b) == "`a` is wired to `b` twice; a node reads another's result once");
    CHECK(build_error(a >> b | a >> b) == "`a` is wired to `b` twice; a node reads another's result once");
}

TEST_CASE("then between a node and a wave that has it in it is a node wired to itself") {
    const Wire a = named("a"), b = named("b");
    CHECK(build_error(a >> (b | a)) == "node `a` is wired to itself");
}

TEST_CASE("a wire that was moved from says so") {
    Wire a = named("a");
    const Wire b = std::move(a);
    CHECK(build_error(a) == "this wire was moved from; there is nothing in it any more"); // NOLINT
    CHECK(error_of([&] { static_cast<void>(a >> b); }) == "this wire was moved from; there is nothing in it any more");
}

TEST_CASE("arguments are the node's configuration in the order given") {
    const Wired wired = build(node("nn.bag", {{"dim", 256}, {"mode", "sum"}}));
    const auto& config = wired.graph.nodes()[0].config;
    REQUIRE(config.size() == 2);
    CHECK(config.key(0) == "dim");
    CHECK(config.at(1).as_string() == "sum");
    CHECK_THROWS_AS(node("nn.bag", {{"dim", 1}, {"dim", 2}}), soma::ValueError);
}

TEST_CASE("a chain of three hundred thousand nodes is built and destroyed without recursion") {
    constexpr int length = 300'000;
    Wire left = node("test.n");
    for (int i = 1; i < length; ++i) left = left >> node("test.n");
    CHECK(build(left).graph.size() == length);
    Wire right = node("test.n");
    for (int i = 1; i < length; ++i) right = node("test.n").on("cpu") >> right;
    CHECK(build(right).placement.size() == length - 1);
    Wire wave = node("test.n");
    for (int i = 1; i < length; ++i) wave = (i % 2 == 0 ? wave | node("test.n") : node("test.n") | wave);
    CHECK(build(wave).graph.size() == length);
    Wire wrapped = node("test.n");
    for (int i = 0; i < length; ++i) wrapped = wrapped.on("cpu").named("x");
    CHECK(build(wrapped).graph.size() == 1);
}

TEST_CASE("a piece shared at every level is walked once and not once for every way to it") {
    Wire piece = node("test.n");
    for (int i = 0; i < 5000; ++i)
        piece = (piece >> node("test.n") | piece >> node("test.n")).on(i % 2 ? "cpu" : "meta");
    // Each level adds two nodes that read all the ends of the one before: the same ones for both.
    const Wired wired = build(piece.on("cpu"));
    CHECK(wired.graph.size() == 10'001);
    CHECK(wired.placement.of("n") == soma::Device::parse("meta"));
    CHECK(build_error(node("test.x") >> piece) == "`x` is wired to `n` twice; a node reads another's result once");
}

TEST_CASE("more edges than a graph can have is an error and not the end of memory") {
    Wire many = node("test.n");
    for (int i = 1; i < 20'000; ++i) many = many | node("test.n");
    Wire others = node("test.n");
    for (int i = 1; i < 20'000; ++i) others = others | node("test.n");
    CHECK(build_error(many >> others).find("`>>` between 20000 nodes and 20000 nodes makes more edges than") == 0);
}

TEST_CASE("one wire may be used by several threads at once") {
    Wire shared = node("test.n");
    for (int i = 0; i < 20'000; ++i) shared = shared >> node("test.n");
    std::vector<std::thread> threads;
    std::vector<std::size_t> sizes(4);
    for (std::size_t t = 0; t < sizes.size(); ++t) {
        threads.emplace_back([&, t, copy = shared] { sizes[t] = build(copy >> node("test.n")).graph.size(); });
    }
    shared = node("test.n");
    for (auto& thread : threads) thread.join();
    CHECK(sizes == std::vector<std::size_t>(4, 20'002));
}

// SPDX-License-Identifier: Apache-2.0
#include "soma/language.h"

#include <string>
#include <string_view>
#include <vector>

#include "soma/error.h"
#include "soma/json.h"
#include "soma/plan.h"
#include "support/catch.h"
#include "support/plans.h"

using soma::build;
using soma::Graph;
using soma::parse_wire;
using soma::Placement;
using soma::Wired;

namespace {

Wired read(std::string_view text) { return build(parse_wire(text)); }

std::string planned(std::string_view text) { return soma::compile(read(text).graph).to_json(); }

std::string config(std::string_view text) { return soma::to_json(read(text).graph.nodes()[0].config); }

bool comes_back(const Graph& graph, const Placement& placement) {
    const Wired back = read(soma::to_wire_text(graph, placement));
    return back.graph == graph && back.placement == placement;
}

} // namespace

TEST_CASE("text and C++ say the same graph and placement") {
    const Wired text =
        read(R"(text.tokenize >> (nn.encoder.on("cuda:0") | nn.bag.named("other").on("cuda:1")) >> flow.join)");
    const Wired code = build(soma::node("text.tokenize") >> (soma::node("nn.encoder").on("cuda:0") |
                                                             soma::node("nn.bag").named("other").on("cuda:1")) >>
                             soma::node("flow.join"));
    CHECK(text.graph == code.graph);
    CHECK(text.placement == code.placement);
    CHECK(text.placement.to_json() == R"({"encoder": "cuda:0", "other": "cuda:1"})");
}

TEST_CASE("then binds tighter than beside and parentheses group") {
    CHECK(planned("t.a >> t.b | t.c >> t.d") ==
          R"({"sequence": [{"wave": [{"sequence": ["a", "b"]}, {"sequence": ["c", "d"]}]}]})");
    CHECK(planned("t.a >> (t.b | t.c) >> t.d") == R"({"sequence": ["a", {"wave": ["b", "c"]}, "d"]})");
    CHECK(planned("((t.a)) | ((t.b | (t.c)))") == R"({"sequence": [{"wave": ["a", "b", "c"]}]})");
}

TEST_CASE("a binding names its node and is the same node wherever it is used") {
    const Wired wired = read("tokens = text.tokenize\n"
                             "tokens >> (nn.bag | nn.encoder) | tokens >> flow.join\n");
    CHECK(wired.graph.nodes()[0].id == "tokens");
    CHECK(wired.graph.size() == 4);
    CHECK(wired.graph.outputs(0).size() == 3);
}

TEST_CASE("a node that is named keeps its name when it is bound") {
    const Wired wired = read("x = nn.bag.named(\"chars\")\ny = x\nboth = nn.relu >> y\nboth");
    CHECK(wired.graph.nodes()[0].id == "relu");
    CHECK(wired.graph.nodes()[1].id == "chars");
    const Wired later = read("x = nn.bag\nnn.relu >> x.named(\"chars\")");
    CHECK(later.graph.nodes()[1].id == "chars");
    // Of two bindings of one node the first names it.
    CHECK(read("x = nn.bag\ny = x\ny").graph.nodes()[0].id == "x");
}

TEST_CASE("a binding may be called like a family or a method or a value") {
    const Wired wired = read("text = text.read\non = text.tokenize.on(\"cpu\")\ntrue = nn.bag(on=true)\n"
                             "text >> on.on(\"meta\") >> true");
    CHECK(wired.graph.size() == 3);
    CHECK(wired.placement.to_json() == R"({"on": "cpu"})");
}

TEST_CASE("arguments are JSON values by keyword") {
    CHECK(
        config(R"(t.x(a=1, b=-2.5e3, c="text", d=true, e=false, f=null, g=[1, [2, {"k": "v"}], []], h={}))") ==
        R"({"a": 1, "b": -2500.0, "c": "text", "d": true, "e": false, "f": null, "g": [1, [2, {"k": "v"}], []], "h": {}})");
    CHECK(config("t.x()") == "null");
    CHECK(config(R"(t.x(s="\"\\\/\b\f\n\r\t\u00e4\u20ac\ud83d\ude00ä€"))") == R"({"s": "\"\\/\b\f\n\r\tä€😀ä€"})");
    CHECK(config("t.x(i=9223372036854775807, j=-9223372036854775808, k=0, l=-0.0)") ==
          R"({"i": 9223372036854775807, "j": -9223372036854775808, "k": 0, "l": -0.0})");
}

TEST_CASE("values in arguments are what JSON text says they are") {
    for (const auto* json :
         {"1", "-1", "0.1", "1e300", "12345678901234567890", "-0", "0", "1.0", "1E2", "\"\"", "\"a\\u0041\"", "[]",
          "{}", "[1, 2]", "{\"a\": [true, false, null]}", "2.2250738585072014e-308"}) {
        INFO(json);
        const Wired wired = read("t.x(v=" + std::string(json) + ")");
        CHECK(wired.graph.nodes()[0].config.at(0) == soma::parse_json(json));
    }
}

TEST_CASE("comments and line ends and spaces are where they do no harm") {
    const auto* const text = "# first\n"
                             "\n"
                             "tokens = text.tokenize( # why\n"
                             "    lower = true,\n"
                             "    n=[1, # one\n"
                             "       2]\n"
                             ")  # done\n"
                             "tokens >> ( # open\n"
                             "    nn.bag(dim=256)\n"
                             "        .on( \"cuda:0\" )\n"
                             "\n"
                             "  | nn.bag # beside\n"
                             ")\n"
                             "  >>\n"
                             "  # between\n"
                             "  flow.join # \"no text\n";
    const Wired wired = read(text);
    CHECK(wired.graph.size() == 4);
    CHECK(soma::to_json(wired.graph.nodes()[0].config) == R"({"lower": true, "n": [1, 2]})");
    CHECK(wired.placement.to_json() == R"({"bag": "cuda:0"})");
    std::string windows;
    for (const char c : std::string_view(text)) windows += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(read(windows).graph == wired.graph);
    CHECK(read("\xef\xbb\xbft.a >> t.b").graph.size() == 2); // a byte order mark
    CHECK(read("\t t.a\t>>\tt.b \t").graph.size() == 2);
}

TEST_CASE("a statement ends with its line unless the next begins with what continues it") {
    CHECK(read("a = t.a\nb = t.b\na >> b").graph.size() == 2);
    CHECK(read("t.a\n>> t.b\n| t.c\n.on(\"cpu\")").graph.size() == 3);
    CHECK(read("(t.a | t.b\n)\n>> t.c").graph.edges().size() == 2);
}

TEST_CASE("a graph may have types without a family when none is known") {
    CHECK(read("a >> (b | c)").graph.size() == 3);
    const std::vector<std::string> types{"a", "b"};
    CHECK(build(parse_wire("a >> b", "", types)).graph.size() == 2);
}

TEST_CASE("a chain of three hundred thousand nodes is read without recursion") {
    std::string text = "t.n";
    for (int i = 1; i < 300'000; ++i) text += i % 100 == 0 ? "\n>> t.n" : " >> t.n";
    CHECK(read(text).graph.edges().size() == 299'999);
    std::string wave = "t.n";
    for (int i = 1; i < 100'000; ++i) wave += " | t.n";
    CHECK(read(wave).graph.edges().empty());
}

TEST_CASE("parentheses nest a thousand levels") {
    std::string text = "t.n";
    for (int i = 0; i < 1000; ++i) text = i % 2 == 0 ? "(" + text + " | t.n)" : "(" + text + " >> t.n)";
    CHECK(read(text).graph.size() == 1001);
    CHECK(soma::compile(read(text).graph).steps.size() > 1001);
}

TEST_CASE("a series parallel graph is written as one expression") {
    const std::string text = "text.tokenize(lower=true) >> (nn.encoder.on(\"cuda:0\") | nn.bag.named(\"other\") >> "
                             "(nn.relu | nn.bag)) >> flow.join\n";
    const Wired wired = read(text);
    CHECK(soma::to_wire_text(wired.graph, wired.placement) == text);
    CHECK(soma::to_wire_text(read("t.a").graph, {}) == "t.a\n");
    CHECK(soma::to_wire_text(read("t.a | t.b").graph, {}) == "t.a | t.b\n");
}

TEST_CASE("a long expression is written with its pieces on lines of their own") {
    std::string text = "t.first";
    for (int i = 0; i < 12; ++i) text += "\n>> t.another(number=" + std::to_string(i) + ")";
    const Wired wired = read(text);
    CHECK(soma::to_wire_text(wired.graph, {}) == text + "\n");
    std::string wave = "t.first >> t.second";
    for (int i = 0; i < 12; ++i) wave += "\n| t.another(number=" + std::to_string(i) + ")";
    CHECK(soma::to_wire_text(read(wave).graph, {}) == wave + "\n");
}

TEST_CASE("a graph that is not series parallel is written with bindings") {
    const Graph graph = soma::test::graph_of({{"a", "c"}, {"b", "c"}, {"b", "d"}});
    CHECK(soma::to_wire_text(graph, {}) == "a = test.node\n"
                                           "c = test.node\n"
                                           "b = test.node\n"
                                           "d = test.node\n"
                                           "a | c | b | d\n"
                                           "| (a | b) >> c\n"
                                           "| b >> d\n");
    CHECK(comes_back(graph, {}));
}

TEST_CASE("a graph with a skip connection comes back from its text") {
    const Graph graph = soma::test::graph_of({{"x", "a"}, {"a", "y"}, {"x", "y"}});
    Placement placement;
    placement.place("a", soma::Device::parse("cuda:1"));
    CHECK(comes_back(graph, placement));
}

TEST_CASE("random graphs come back the same from their text") {
    soma::test::Random random(7);
    for (int round = 0; round < 400; ++round) {
        const Graph graph = round % 2 == 0 ? soma::test::random_dag(random, 1 + random.below(12), random.below(100))
                                           : soma::test::random_series_parallel(random, 1 + random.below(40));
        Placement placement;
        for (const auto& node : graph.nodes()) {
            if (random.chance(30)) placement.place(node.id, soma::Device::parse(random.chance(50) ? "cuda:1" : "meta"));
        }
        INFO(soma::to_wire_text(graph, placement));
        REQUIRE(comes_back(graph, placement));
    }
}

TEST_CASE("ids that cannot be bound and configurations come back from text") {
    Graph graph;
    using soma::Value;
    graph.add("t.x", Value::dict({{"a", Value(1.0)}, {"b", Value("ä\n\"")}, {"c", Value::list({Value(), Value(1)})}}),
              "x-1");
    graph.add("plain", {}, "x.2");
    graph.add("t.z", {}, "z_2");
    graph.add("t.z", {}, "z");
    graph.connect("x-1", "z");
    graph.connect("x-1", "z_2");
    graph.connect("x.2", "z");
    CHECK(comes_back(graph, {}));
    Graph ordered;
    for (const auto* id : {"z_2", "z", "z_3", "z_5"}) ordered.add("t.z", {}, id);
    CHECK(soma::to_wire_text(ordered, {}) == "t.z.named(\"z_2\") | t.z | t.z | t.z.named(\"z_5\")\n");
    CHECK(comes_back(ordered, {}));
}

TEST_CASE("what cannot be written as text is an error that says why") {
    using soma::Value;
    CHECK_THROWS_WITH(soma::to_wire_text(Graph(), {}), "a graph without nodes has no text");
    Graph graph;
    graph.add("t.x", Value::dict({{"two words", Value(1)}}));
    CHECK_THROWS_WITH(soma::to_wire_text(graph, {}),
                      "the configuration of node `x` has the key `two words`, which cannot be the name of an argument");
    Placement placement;
    placement.place("encodr", soma::Device::parse("cpu"));
    Graph other;
    other.add("nn.encoder");
    CHECK_THROWS_WITH(soma::to_wire_text(other, placement),
                      "there is no node `encodr` to place on `cpu` (did you mean `encoder`?)");
    Graph bytes;
    bytes.add("t.x", Value::dict({{"b", Value::bytes({})}}));
    CHECK_THROWS_WITH(soma::to_wire_text(bytes, {}), "the configuration of node `x` has bytes, which text cannot hold");
}

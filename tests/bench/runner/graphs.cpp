// SPDX-License-Identifier: Apache-2.0
// B6: large graphs are planned and made ready, and text is read.
#include <chrono>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "rows.h"
#include "soma/language.h"
#include "soma/plan.h"
#include "soma/wire.h"

namespace soma::bench {
namespace {

constexpr std::string_view type = "bench.noop";

Graph chain(std::size_t nodes) {
    Graph graph;
    for (std::size_t i = 0; i < nodes; ++i) {
        const Graph::Index node = graph.add(type);
        if (i > 0) graph.connect(node - 1, node);
    }
    return graph;
}

/// One node read by all but the last, which reads them all.
Graph fan(std::size_t nodes) {
    Graph graph;
    for (std::size_t i = 0; i < nodes; ++i) {
        const Graph::Index node = graph.add(type);
        if (i > 0 && i + 1 < nodes) graph.connect(0, node);
    }
    for (Graph::Index i = 1; i + 1 < graph.size(); ++i) graph.connect(i, static_cast<Graph::Index>(nodes - 1));
    return graph;
}

/// Two chains with a rung from the one to the other at every step: not series-parallel anywhere.
Graph ladder(std::size_t nodes) {
    Graph graph;
    for (Graph::Index i = 0; i < nodes; ++i) {
        graph.add(type);
        if (i >= 2) graph.connect(i - 2, i);
        if (i % 2 == 1) graph.connect(i - 1, i);
    }
    return graph;
}

/// Every node reads up to three of the hundred before it.
Graph random_dag(std::size_t nodes) {
    Graph graph;
    std::mt19937 random(7);
    for (Graph::Index i = 0; i < nodes; ++i) {
        graph.add(type);
        Graph::Index before = i;
        for (int edge = 0; edge < 3 && before > 0; ++edge) {
            const Graph::Index gap = 1 + random() % 33;
            if (gap > before) break;
            before -= gap;
            graph.connect(before, i);
        }
    }
    return graph;
}

/// Times what `make` does, the memory it gives back before it is done included. On neither side counts what it is given, nor
/// freeing what it made.
template <class Prepare, class Make>
Side making(std::string name, Prepare prepare, Make make) {
    Side side{std::move(name), {}};
    side.timed = [prepare, make](std::size_t repeats) {
        double ns = 0;
        for (std::size_t i = 0; i < repeats; ++i) {
            auto ready = prepare();
            const auto begin = std::chrono::steady_clock::now();
            const auto made = make(ready);
            ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
            keep(made);
        }
        return ns;
    };
    return side;
}

Side compiling(const Graph& graph) {
    return making(
        "soma", [&graph] { return &graph; }, [](const Graph* whole) { return compile(*whole); });
}

Side instantiating(const Graph& graph) {
    return making(
        "soma", [&graph] { return graph; }, [](Graph& copy) { return Pipeline(std::move(copy), catalog()); });
}

Side inserting(const Graph& graph) {
    return making(
        "unordered_map", [&graph] { return &graph; },
        [](const Graph* nodes) {
            std::unordered_map<std::string, std::size_t> map;
            for (const Node& node : nodes->nodes()) map.emplace(node.id, map.size());
            return map;
        });
}

/// Wire text of about so many bytes, of statements as people write them.
std::string wire_text(std::size_t bytes) {
    std::string text;
    std::size_t i = 0;
    for (; text.size() < bytes; ++i) {
        const std::string n = std::to_string(i);
        text += "stage" + n + " = " + (i == 0 ? "" : "stage" + std::to_string(i - 1) + " >> ") + "(nn.linear(in=256, " +
                "out=256, bias=true).on(\"cpu\") | nn.bag(dim=256, ngram=3).named(\"bag" + n + "\")) >> " +
                "flow.join(mode=\"sum\").named(\"join" + n + "\")\n";
    }
    return text + "stage" + std::to_string(i - 1) + "\n";
}

void parsing(Recorder& recorder) {
    for (const std::size_t bytes : {recorder.tiny() ? 1000U : 100000U, recorder.tiny() ? 4000U : 1000000U}) {
        const std::string text = wire_text(bytes);
        const std::string json = build(parse_wire(text)).graph.to_json();
        Point point{"parse", static_cast<double>(bytes), {}};
        point.sides.push_back({"soma", [&text](std::size_t repeats) {
                                   for (std::size_t i = 0; i < repeats; ++i) keep(parse_wire(text));
                               }});
        point.sides.push_back({"nlohmann-json", [&json](std::size_t repeats) {
                                   for (std::size_t i = 0; i < repeats; ++i) keep(nlohmann::json::parse(json));
                               }});
        recorder.measure("B6", {point});
    }
}

} // namespace

void graph_row(Recorder& recorder) {
    if (!recorder.wants("B6")) return;
    struct Shape {
        const char* name;
        Graph (*make)(std::size_t);
    };
    parsing(recorder);
    for (const Shape& shape : {Shape{"chain", chain}, {"fan", fan}, {"ladder", ladder}, {"random DAG", random_dag}}) {
        const std::vector<std::size_t> sizes =
            recorder.tiny() ? std::vector<std::size_t>{20, 40} : std::vector<std::size_t>{1000, 10000, 100000, 1000000};
        for (const std::size_t nodes : sizes) {
            const Graph graph = shape.make(nodes);
            Point plan{std::string("compile: ") + shape.name, static_cast<double>(nodes), {}};
            plan.sides = {compiling(graph), inserting(graph)};
            Point ready{std::string("compile and instantiate: ") + shape.name, static_cast<double>(nodes), {}};
            ready.sides = {instantiating(graph), inserting(graph)};
            // A million nodes take seconds: fewer rounds.
            recorder.measure("B6", {plan, ready}, nodes > 100000 ? 3 : nodes > 10000 ? 9 : 0);
        }
    }
}

} // namespace soma::bench

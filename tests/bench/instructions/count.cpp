// SPDX-License-Identifier: Apache-2.0
// What callgrind counts: the way through nodes that do nothing, at two sizes each, so that the difference is what one more
// costs. Run under `valgrind --tool=callgrind --instr-atstart=no`; each measured run leaves a dump named after it.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <valgrind/callgrind.h>

#include "soma/json.h"
#include "soma/pipeline.h"

namespace {

using namespace soma;

const Catalog& catalog() {
    static const Catalog all = [] {
        Catalog loading;
        loading.load_file(SOMA_BENCH_PLUGINS "/bench.soma.so");
        return loading;
    }();
    return all;
}

Pipeline on_cpu(Graph graph) {
    Placement placement;
    for (const Node& node : graph.nodes()) placement.place(node.id, Device(DeviceKind::cpu));
    return {std::move(graph), catalog(), placement, {.jobs = 1}};
}

void count(const char* name, std::size_t size, Pipeline& pipeline, const Value& input) {
    // The first runs make what is made once.
    for (int i = 0; i < 3; ++i) pipeline.run(input);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    pipeline.run(input);
    CALLGRIND_DUMP_STATS_AT((std::string(name) + " " + std::to_string(size)).c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
}

void chain(std::size_t nodes, const Value& input) {
    Graph graph;
    for (std::size_t i = 0; i < nodes; ++i) {
        const Graph::Index node = graph.add("bench.noop");
        if (i > 0) graph.connect(node - 1, node);
    }
    Pipeline pipeline = on_cpu(std::move(graph));
    count("B1", nodes, pipeline, input);
}

/// Waves of two branches, run in place.
void waves(std::size_t count_of_waves, const Value& input) {
    Graph graph;
    Graph::Index last = graph.add("bench.first");
    for (std::size_t i = 0; i < count_of_waves; ++i) {
        const Graph::Index left = graph.add("bench.noop");
        const Graph::Index right = graph.add("bench.noop");
        const Graph::Index join = graph.add("bench.first");
        graph.connect(last, left);
        graph.connect(last, right);
        graph.connect(left, join);
        graph.connect(right, join);
        last = join;
    }
    Pipeline pipeline = on_cpu(std::move(graph));
    count("B2", count_of_waves, pipeline, input);
}

/// A list of tensors, each of which is looked at.
void postcondition(std::size_t tensors, const Value& input) {
    Graph graph;
    graph.add("bench.noop");
    Pipeline pipeline = on_cpu(std::move(graph));
    count("B9", tensors, pipeline, Value::list(std::vector<Value>(tensors, input)));
}

} // namespace

int main() {
    try {
        const Value input = tensors_from_json(parse_json(R"({"tensor": [1.0, 2.0]})"));
        for (const std::size_t size : {20U, 220U}) chain(size, input);
        for (const std::size_t size : {4U, 24U}) waves(size, input);
        for (const std::size_t size : {20U, 220U}) postcondition(size, input);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soma_bench_count: %s\n", error.what());
        return 1;
    }
    return 0;
}

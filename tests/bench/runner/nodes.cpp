// SPDX-License-Identifier: Apache-2.0
#include "rows.h"
#include "soma/json.h"

namespace soma::bench {

const Catalog& catalog() {
    static const Catalog all = [] {
        Catalog loading;
        loading.load_file(SOMA_BENCH_PLUGINS "/bench.soma.so");
        loading.load_file(SOMA_BENCH_PLUGINS "/maths.soma.so");
        loading.load_file(SOMA_SHIPPED_PLUGINS "/nn.soma.so");
        loading.load_file(SOMA_SHIPPED_PLUGINS "/flow.soma.so");
        return loading;
    }();
    return all;
}

Value tensor(std::size_t elements) {
    std::vector<Value> numbers(elements, Value(0.5));
    return tensors_from_json(Value::dict({{"tensor", Value::list(std::move(numbers))}}));
}

Graph::Index add(Graph& graph, std::string_view type, Value config, const Graph::Index* from) {
    const Graph::Index node = graph.add(type, std::move(config));
    if (from != nullptr) graph.connect(*from, node);
    return node;
}

Placement all_on_cpu(const Graph& graph) {
    Placement placement;
    for (const Node& node : graph.nodes()) placement.place(node.id, Device(DeviceKind::cpu));
    return placement;
}

std::function<void(std::size_t)> runs(Pipeline& pipeline, Value input) {
    return [&pipeline, input = std::move(input)](std::size_t repeats) {
        for (std::size_t i = 0; i < repeats; ++i) keep(pipeline.run(input));
    };
}

[[gnu::noinline]] void nothing() noexcept { asm volatile(""); }

[[gnu::noinline]] void work(std::uint64_t loops) noexcept {
    std::uint64_t x = 0;
    for (std::uint64_t i = 0; i < loops; ++i) {
        x = x * 6364136223846793005U + 1;
        asm volatile("" : "+r"(x));
    }
}

} // namespace soma::bench

// SPDX-License-Identifier: Apache-2.0
// What the parts of the host cost by themselves, for whoever works on one of them.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "soma/detail/engine.h"
#include "soma/detail/value_rep.h"
#include "soma/driver.h"
#include "soma/json.h"
#include "soma/language.h"
#include "soma/pipeline.h"
#include "soma/plan.h"

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

Value tensor() { return tensors_from_json(parse_json(R"({"tensor": [1.0, 2.0]})")); }

Graph chain(std::int64_t nodes) {
    Graph graph;
    for (Graph::Index i = 0; i < nodes; ++i) {
        graph.add("bench.noop");
        if (i > 0) graph.connect(i - 1, i);
    }
    return graph;
}

Pipeline pipeline_of(Graph graph, bool placed) {
    Placement placement;
    if (placed) {
        for (const Node& node : graph.nodes()) placement.place(node.id, Device(DeviceKind::cpu));
    }
    return {std::move(graph), catalog(), placement, {.jobs = 2}};
}

// Value handles.

void make_and_free_an_int(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(Value(42));
}
BENCHMARK(make_and_free_an_int);

void share_a_value(benchmark::State& state) {
    const Value value(42);
    for (auto _ : state) {
        Value copy = value;
        benchmark::DoNotOptimize(copy);
    }
}
BENCHMARK(share_a_value)->Threads(1)->Threads(2);

void make_a_list(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(Value::list(std::vector<Value>(static_cast<std::size_t>(state.range(0)))));
    }
}
BENCHMARK(make_a_list)->Arg(2)->Arg(64);

void find_in_a_dict(benchmark::State& state) {
    std::vector<std::pair<std::string, Value>> entries;
    for (int i = 0; i < state.range(0); ++i) entries.emplace_back("key" + std::to_string(i), Value(i));
    const std::string last = entries.back().first;
    const Value dict = Value::dict(std::move(entries));
    for (auto _ : state) benchmark::DoNotOptimize(dict.find(last));
}
BENCHMARK(find_in_a_dict)->Arg(4)->Arg(64);

// Operators through the engine's table, as a plugin calls them.

void call_an_operator(benchmark::State& state) {
    const detail::Engine& engine = detail::require_engine();
    const soma_operator* op = nullptr;
    if (engine.op_find(SOMA_STR("aten::add"), SOMA_STR("Tensor"), &op) != nullptr) {
        return state.SkipWithError("aten::add was not found");
    }
    const Value x = tensor();
    soma_value* arguments[] = {x.handle(), x.handle()};
    for (auto _ : state) {
        soma_value* result = nullptr;
        soma_call call{};
        call.struct_size = sizeof call;
        call.arg_count = 2;
        call.args = arguments;
        call.result_capacity = 1;
        call.results = &result;
        if (engine.op_call(op, &call) != nullptr) return state.SkipWithError("aten::add failed");
        detail::release(result);
    }
}
BENCHMARK(call_an_operator);

// Running.

void run_a_chain(benchmark::State& state) {
    Pipeline pipeline = pipeline_of(chain(state.range(0)), true);
    const Value input = tensor();
    for (auto _ : state) benchmark::DoNotOptimize(pipeline.run(input));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(run_a_chain)->Arg(1)->Arg(1000);

void check_where_a_list_is(benchmark::State& state) {
    Pipeline pipeline = pipeline_of(chain(1), state.range(1) != 0);
    const Value input = Value::list(std::vector<Value>(static_cast<std::size_t>(state.range(0)), tensor()));
    for (auto _ : state) benchmark::DoNotOptimize(pipeline.run(input));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(check_where_a_list_is)->ArgNames({"tensors", "placed"})->Args({1000, 0})->Args({1000, 1});

void nothing(void*, std::size_t) noexcept {}

void run_a_wave(benchmark::State& state) {
    const auto driver = thread_driver(2);
    const Driver::Wave wave{nothing, nullptr, static_cast<std::size_t>(state.range(0))};
    for (auto _ : state) driver->run_wave(wave);
}
BENCHMARK(run_a_wave)->Arg(2)->Arg(64);

// Making ready.

void add_and_connect(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(chain(state.range(0)));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(add_and_connect)->Arg(1000)->Arg(100000);

void compile_a_chain(benchmark::State& state) {
    const Graph graph = chain(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(compile(graph));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(compile_a_chain)->Arg(1000)->Arg(100000);

void instantiate_a_chain(benchmark::State& state) {
    const Graph graph = chain(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(pipeline_of(graph, false));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(instantiate_a_chain)->Arg(1000)->Arg(100000);

void parse_wire_text(benchmark::State& state) {
    std::string text = "a0 = text.tokenize(lower=true)\n";
    std::int64_t i = 1;
    for (; static_cast<std::int64_t>(text.size()) < state.range(0); ++i) {
        const std::string n = std::to_string(i);
        text += "a" + n + " = a" + std::to_string(i - 1) + " >> nn.bag(dim=256, ngram=3).on(\"cpu\").named(\"b" + n +
                "\")\n";
    }
    text += "a" + std::to_string(i - 1) + "\n";
    for (auto _ : state) benchmark::DoNotOptimize(parse_wire(text));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse_wire_text)->Arg(10000)->Arg(1000000);

} // namespace

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0
// B1: a chain of nodes that do nothing.
#include <deque>
#include <memory>

#include "rows.h"

#if SOMA_BENCH_TBB
#include <oneapi/tbb/flow_graph.h>
#endif
#if SOMA_BENCH_TASKFLOW
#include <taskflow/taskflow.hpp>
#endif

namespace soma::bench {
namespace {

struct Ours {
    explicit Ours(std::size_t nodes) {
        Graph graph;
        Graph::Index last = add(graph, "bench.noop");
        for (std::size_t i = 1; i < nodes; ++i) last = add(graph, "bench.noop", {}, &last);
        const Placement placement = all_on_cpu(graph);
        pipeline = std::make_unique<Pipeline>(std::move(graph), catalog(), placement, PipelineOptions{.jobs = 2});
    }
    std::unique_ptr<Pipeline> pipeline;
};

#if SOMA_BENCH_TBB
struct Tbb {
    explicit Tbb(std::size_t count) {
        using namespace tbb::flow;
        for (std::size_t i = 0; i < count; ++i) {
            nodes.emplace_back(graph, [](const continue_msg& message) { return message; });
            if (i > 0) make_edge(nodes[i - 1], nodes[i]);
        }
    }
    void run(std::size_t repeats) {
        for (std::size_t i = 0; i < repeats; ++i) {
            nodes.front().try_put(tbb::flow::continue_msg());
            graph.wait_for_all();
        }
    }
    tbb::flow::graph graph;
    std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes;
};
#endif

#if SOMA_BENCH_TASKFLOW
struct Taskflow {
    explicit Taskflow(std::size_t count) {
        tf::Task last;
        for (std::size_t i = 0; i < count; ++i) {
            tf::Task task = flow.emplace([] {});
            if (i > 0) last.precede(task);
            last = task;
        }
    }
    void run(std::size_t repeats) {
        for (std::size_t i = 0; i < repeats; ++i) executor.run(flow).wait();
    }
    tf::Taskflow flow;
    tf::Executor executor{2};
};
#endif

} // namespace

void chain_row(Recorder& recorder) {
    if (!recorder.wants("B1")) return;
    const Value input = tensor(2);
    std::deque<Ours> ours;
    std::vector<Point> points;
    std::vector<void (*)() noexcept> calls;
#if SOMA_BENCH_TBB
    std::deque<Tbb> tbb;
#endif
#if SOMA_BENCH_TASKFLOW
    std::deque<Taskflow> taskflow;
#endif
    for (const std::size_t nodes :
         recorder.tiny() ? std::vector<std::size_t>{5, 10} : std::vector<std::size_t>{100, 1100}) {
        Point point{"chain", static_cast<double>(nodes), {}};
        point.sides.push_back({"soma", runs(*ours.emplace_back(nodes).pipeline, input)});
#if SOMA_BENCH_TBB
        point.sides.push_back({"oneTBB", [&peer = tbb.emplace_back(nodes)](std::size_t n) { peer.run(n); }});
#endif
#if SOMA_BENCH_TASKFLOW
        point.sides.push_back({"Taskflow", [&peer = taskflow.emplace_back(nodes)](std::size_t n) { peer.run(n); }});
#endif
        calls.assign(std::max(calls.size(), nodes), nothing);
        point.sides.push_back({"floor", [&calls, nodes](std::size_t n) {
                                   for (std::size_t i = 0; i < n; ++i) {
                                       for (std::size_t k = 0; k < nodes; ++k) calls[k]();
                                   }
                               }});
        points.push_back(std::move(point));
    }
    recorder.measure("B1", points);
}

} // namespace soma::bench

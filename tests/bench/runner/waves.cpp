// SPDX-License-Identifier: Apache-2.0
// B2, B2b and B5: branches side by side, on two threads.
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "rows.h"
#include "soma/driver.h"

#if SOMA_BENCH_TBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>
#endif
#if SOMA_BENCH_TASKFLOW
#include <taskflow/taskflow.hpp>
#endif

namespace soma::bench {
namespace {

/// Returns when two have come, as `bench.meet` does.
std::atomic<std::uint32_t> arrivals{0};
void meet() noexcept {
    const std::uint32_t both = (arrivals.fetch_add(1) | 1U) + 1;
    while (static_cast<std::int32_t>(arrivals.load() - both) < 0) asm volatile("pause");
}

/// What a wave's branches do, for a peer or the driver alone.
struct Body {
    enum What : std::uint8_t { none, meeting, working } what = none;
    std::uint64_t loops = 0;
    void operator()() const noexcept {
        switch (what) {
        case none: return nothing();
        case meeting: return meet();
        case working: return work(loops);
        }
    }
    static void branch(void* self, std::size_t) noexcept { (*static_cast<const Body*>(self))(); }
};

/// `waves` waves of so many branches, one after the other, each followed by a node that takes their results.
std::unique_ptr<Pipeline> pipeline_of(std::size_t waves, std::size_t branches, const Body& body) {
    constexpr std::string_view types[] = {"bench.noop", "bench.meet", "bench.work"};
    Graph graph;
    Graph::Index last = add(graph, "bench.first");
    for (std::size_t wave = 0; wave < waves; ++wave) {
        std::vector<Graph::Index> ends;
        for (std::size_t i = 0; i < branches; ++i) {
            Value config = body.what == Body::working
                               ? Value::dict({{"loops", Value(static_cast<std::int64_t>(body.loops))}})
                               : Value();
            ends.push_back(add(graph, types[body.what], std::move(config), &last));
        }
        last = graph.add("bench.first");
        for (const Graph::Index end : ends) graph.connect(end, last);
    }
    const Placement placement = all_on_cpu(graph);
    return std::make_unique<Pipeline>(std::move(graph), catalog(), placement, PipelineOptions{.jobs = 2});
}

Side driver_side(Driver& driver, std::size_t waves, std::size_t branches, const Body& body) {
    return {"soma", [&driver, &body, waves, branches](std::size_t repeats) {
                const Driver::Wave wave{&Body::branch, const_cast<Body*>(&body), branches};
                for (std::size_t i = 0; i < repeats * waves; ++i) driver.run_wave(wave);
            }};
}

Side floor_side(std::size_t waves, std::size_t branches, const Body& body) {
    return {"floor", [&body, waves, branches](std::size_t repeats) {
                void (*volatile call)(void*, std::size_t) noexcept = &Body::branch;
                for (std::size_t i = 0; i < repeats * waves * branches; ++i) call(const_cast<Body*>(&body), i);
            }};
}

#if SOMA_BENCH_TBB
Side tbb_side(std::size_t waves, std::size_t branches, const Body& body) {
    return {"oneTBB", [&body, waves, branches, group = std::make_shared<tbb::task_group>()](std::size_t repeats) {
                for (std::size_t i = 0; i < repeats * waves; ++i) {
                    for (std::size_t branch = 0; branch < branches; ++branch) group->run([&body] { body(); });
                    group->wait();
                }
            }};
}
#endif

#if SOMA_BENCH_TASKFLOW
struct Flow {
    Flow(std::size_t branches, const Body& body) {
        for (std::size_t i = 0; i < branches; ++i) flow.emplace([&body] { body(); });
    }
    tf::Taskflow flow;
    tf::Executor executor{2};
};
Side taskflow_side(std::size_t waves, std::size_t branches, const Body& body) {
    return {"Taskflow", [waves, flow = std::make_shared<Flow>(branches, body)](std::size_t repeats) {
                for (std::size_t i = 0; i < repeats * waves; ++i) flow->executor.run(flow->flow).wait();
            }};
}
#endif

/// The peers, each given so many waves of these branches.
void add_peers(Point& point, std::size_t waves, std::size_t branches, const Body& body) {
#if SOMA_BENCH_TBB
    point.sides.push_back(tbb_side(waves, branches, body));
#endif
#if SOMA_BENCH_TASKFLOW
    point.sides.push_back(taskflow_side(waves, branches, body));
#endif
    static_cast<void>(waves);
    static_cast<void>(branches);
    static_cast<void>(body);
    static_cast<void>(point);
}

struct Measured {
    std::deque<Body> bodies; ///< what sides point to
    std::deque<std::unique_ptr<Pipeline>> pipelines;
    std::vector<Point> points;
};

/// The same waves in a graph and on the driver alone, beside the peers.
void add_points(Measured& all, const std::string& name, Driver& driver, std::size_t branches, Body body, bool tiny) {
    const Value input = tensor(2);
    const Body& kept = all.bodies.emplace_back(body);
    for (const std::size_t waves : {tiny ? 1U : 2U, tiny ? 2U : 22U}) {
        Point graph{name + " in a graph", static_cast<double>(waves), {}};
        graph.sides.push_back({"soma", runs(*all.pipelines.emplace_back(pipeline_of(waves, branches, body)), input)});
        add_peers(graph, waves, branches, kept);
        if (body.what != Body::meeting) graph.sides.push_back(floor_side(waves, branches, kept));
        Point alone{name + " on the driver", static_cast<double>(waves), {}};
        alone.sides.push_back(driver_side(driver, waves, branches, kept));
        add_peers(alone, waves, branches, kept);
        if (body.what != Body::meeting) alone.sides.push_back(floor_side(waves, branches, kept));
        all.points.push_back(std::move(graph));
        all.points.push_back(std::move(alone));
    }
}

/// Two branches of equal work, as little as it takes, beside the same work done by one thread.
void grains(Recorder& recorder) {
    Measured all;
    const Value input = tensor(2);
    const std::vector<std::uint64_t> loops =
        recorder.tiny() ? std::vector<std::uint64_t>{500, 5000}
                        : std::vector<std::uint64_t>{500, 1250, 2500, 5000, 8750, 15000, 25000, 45000, 75000, 125000};
    for (const std::uint64_t count : loops) {
        const Body& body = all.bodies.emplace_back(Body{Body::working, count});
        Point point{"grain", static_cast<double>(count), {}};
        point.sides.push_back({"soma", runs(*all.pipelines.emplace_back(pipeline_of(1, 2, body)), input)});
        add_peers(point, 1, 2, body);
        point.sides.push_back(floor_side(1, 2, body));
        all.points.push_back(std::move(point));
    }
    recorder.measure("B5", all.points);
}

} // namespace

void wave_rows(Recorder& recorder) {
#if SOMA_BENCH_TBB
    const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
#endif
    const auto driver = thread_driver(2);
    if (recorder.wants("B2")) {
        Measured all;
        add_points(all, "2 branches", *driver, 2, {}, recorder.tiny());
        add_points(all, "64 branches", *driver, 64, {}, recorder.tiny());
        recorder.measure("B2", all.points);
    }
    if (recorder.wants("B2b")) {
        Measured all;
        add_points(all, "2 branches that meet", *driver, 2, {Body::meeting}, recorder.tiny());
        recorder.measure("B2b", all.points);
    }
    if (recorder.wants("B5")) grains(recorder);
}

} // namespace soma::bench

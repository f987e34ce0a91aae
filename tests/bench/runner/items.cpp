// SPDX-License-Identifier: Apache-2.0
// B10 and B11: many items at once, and one pipeline for two threads.
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "rows.h"

namespace soma::bench {
namespace {

Value microseconds(std::int64_t us) { return Value::dict({{"us", Value(us)}}); }

/// Two stages, each entered by one item at a time.
std::unique_ptr<Pipeline> stages(std::string_view type, std::int64_t us) {
    Graph graph;
    const Graph::Index first = add(graph, type, microseconds(us));
    add(graph, type, microseconds(us), &first);
    const Placement placement = all_on_cpu(graph);
    return std::make_unique<Pipeline>(std::move(graph), catalog(), placement, PipelineOptions{.jobs = 2});
}

void many(Pipeline& pipeline, const Value& input, std::size_t items, std::size_t in_flight) {
    std::size_t given = 0;
    std::size_t taken = 0;
    pipeline.run_many([&]() -> std::optional<Value> { return given++ < items ? std::optional(input) : std::nullopt; },
                      [&](ItemResult result) {
                          if (result.error) std::rethrow_exception(result.error);
                          ++taken;
                      },
                      {.in_flight = in_flight});
    if (taken != items) throw std::runtime_error("items were lost");
}

Side flow(std::string name, Pipeline& pipeline, const Value& input, std::size_t items, std::size_t in_flight) {
    return {std::move(name), [&pipeline, input, items, in_flight](std::size_t repeats) {
                for (std::size_t i = 0; i < repeats; ++i) many(pipeline, input, items, in_flight);
            }};
}

void flights(Recorder& recorder) {
    const Value input = tensor(2);
    std::vector<std::unique_ptr<Pipeline>> pipelines;
    for (const std::string type : {"bench.stage", "bench.remote"}) {
        std::vector<Point> points;
        for (const std::int64_t us : {0, 10, 100, 1000}) {
            if (type == "bench.remote" && us < 1000) continue; // no wait is that short
            const std::size_t items = recorder.tiny() ? 4 : us == 0 ? 2000 : us == 10 ? 500 : us == 100 ? 100 : 50;
            recorder.put("B10", "items", static_cast<double>(us), "soma", 0, static_cast<double>(items));
            Pipeline& pipeline = *pipelines.emplace_back(stages(type, us));
            Point point{type, static_cast<double>(us), {}};
            point.sides.push_back(flow("soma", pipeline, input, items, 2));
            point.sides.push_back(flow("one at a time", pipeline, input, items, 1));
            // As many stages one after the other as there are items: the slowest stage is never idle.
            Pipeline& ideal = *pipelines.emplace_back(stages(type, us));
            point.sides.push_back({"ideal", [&ideal, input, items](std::size_t repeats) {
                                       for (std::size_t i = 0; i < repeats; ++i) {
                                           for (std::size_t k = 0; k < (items + 1) / 2; ++k) keep(ideal.run(input));
                                       }
                                   }});
            points.push_back(std::move(point));
        }
        recorder.measure("B10", points);
    }
}

/// Turns of the busy loop a microsecond.
double loops_per_us() {
    static const double measured = [] {
        constexpr std::uint64_t loops = 10000000;
        const auto begin = std::chrono::steady_clock::now();
        work(loops);
        return loops / std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    }();
    return measured;
}

void threads(Recorder& recorder) {
    const Value input = tensor(2);
    Graph graph;
    const Value config = Value::dict({{"loops", Value(static_cast<std::int64_t>(loops_per_us() * 50))}});
    Graph::Index last = add(graph, "bench.work", config);
    for (int i = 1; i < 4; ++i) last = add(graph, "bench.work", config, &last);
    const Placement placement = all_on_cpu(graph);
    Pipeline pipeline(std::move(graph), catalog(), placement, PipelineOptions{.jobs = 1});
    const std::size_t batch = recorder.tiny() ? 2 : 100;
    const auto one = [&pipeline, input](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) keep(pipeline.run(input));
    };
    Point point{"4 nodes of 50 us", static_cast<double>(batch), {}};
    point.sides.push_back({"soma", [&one, batch](std::size_t repeats) {
                               // Each thread does a whole batch: twice the work of one.
                               std::thread other([&] { one(batch * repeats); });
                               one(batch * repeats);
                               other.join();
                           }});
    point.sides.push_back({"floor", [batch](std::size_t repeats) {
                               const auto loop = [turns = batch * repeats] {
                                   const auto loops = static_cast<std::uint64_t>(loops_per_us() * 200);
                                   for (std::size_t i = 0; i < turns; ++i) work(loops);
                               };
                               std::thread other(loop);
                               loop();
                               other.join();
                           }});
    point.sides.push_back({"one thread", [&one, batch](std::size_t repeats) { one(batch * repeats); }});
    recorder.measure("B11", {point});
}

} // namespace

void item_rows(Recorder& recorder) {
    if (recorder.wants("B10")) flights(recorder);
    if (recorder.wants("B11")) threads(recorder);
}

} // namespace soma::bench

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <thread>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

std::int64_t thread_of(const Value& report) { return get(report, "thread").as_int(); }

/// The threads of a diary of `probe.where`, the last node's first.
std::vector<std::int64_t> trail(const Value& report) {
    std::vector<std::int64_t> threads;
    for (const Value* at = &report; at != nullptr && at->kind() == Kind::dict; at = at->find("input")) {
        threads.push_back(thread_of(*at));
    }
    return threads;
}

Wire barrier(std::string_view key, int parties, double seconds = 20) {
    return node("probe.barrier", {{"key", key}, {"parties", parties}, {"seconds", seconds}});
}

/// `depth` waves in each other, each with a chain on either side; gives how many sums it makes.
Wire nested(int depth) {
    const Wire add = node("probe.add");
    if (depth == 0) return add >> node("probe.add");
    return add >> (nested(depth - 1) | nested(depth - 1)) >> node("probe.add");
}

} // namespace

TEST_CASE("with two jobs branches that meet at a barrier run on two threads") {
    auto p = pipeline(barrier("two", 2) | barrier("two", 2), 2);
    for (int run = 0; run < 200; ++run) {
        const auto threads = ints(p.run(Value()));
        REQUIRE(threads[0] != threads[1]);
    }
}

TEST_CASE("with one job branches that would meet at a barrier never do") {
    auto p = pipeline(barrier("one", 2, 0.05).named("a") | barrier("one", 2, 0.05), 1);
    CHECK(error_of<NodeError>([&] { p.run(Value()); }) ==
          "node `a` failed: of 2 parties 1 came to the barrier (plugin `probe`)");
}

TEST_CASE("four branches in two nested waves meet when there are four jobs") {
    auto p = pipeline((barrier("four", 4) | barrier("four", 4)) |
                          (node("probe.pass") >> (barrier("four", 4) | barrier("four", 4))),
                      4);
    for (int run = 0; run < 50; ++run) {
        const auto met = ints(p.run(Value()));
        REQUIRE(met.size() == 4);
        REQUIRE(std::set<std::int64_t>(met.begin(), met.end()).size() == 4);
    }
}

TEST_CASE("the number of branches at once is capped by the number of jobs") {
    // Three parties are never inside at once when there are two jobs.
    Wire wave = barrier("capped", 3, 0.05);
    for (int i = 0; i < 5; ++i) wave = wave | barrier("capped", 3, 0.05);
    auto p = pipeline(wave, 2);
    CHECK(error_of<NodeError>([&] { p.run(Value()); }).find(" parties ") != std::string::npos);
}

TEST_CASE("a branch never changes thread") {
    const auto chain = [] {
        return node("probe.where") >> node("probe.sleep", {{"seconds", 0.0005}}) >> node("probe.where") >>
               node("probe.where");
    };
    auto p = pipeline(chain() | chain() | chain() >> (chain() | chain()) >> node("probe.where") | chain(), 4);
    for (int run = 0; run < 50; ++run) {
        const Value result = p.run(Value());
        for (const std::size_t branch : {0U, 1U, 3U}) {
            const auto threads = trail(result.at(branch));
            REQUIRE(threads.size() == 3);
            REQUIRE(std::set<std::int64_t>(threads.begin(), threads.end()).size() == 1);
        }
        // What follows an inner wave runs on the thread of the branch that the wave is in.
        const Value joined = result.at(2);
        const auto first = trail(get(joined, "input").at(0));
        const auto second = trail(get(joined, "input").at(1));
        REQUIRE(first.size() == 6);
        REQUIRE(first[5] == thread_of(joined));
        REQUIRE(std::equal(first.begin() + 3, first.end(), second.begin() + 3));
        REQUIRE(std::set<std::int64_t>(first.begin(), first.begin() + 3).size() == 1);
        REQUIRE(std::set<std::int64_t>(second.begin(), second.begin() + 3).size() == 1);
    }
}

TEST_CASE("what is in no wave runs on the thread that called") {
    const Value caller = pipeline(node("probe.where")).run(1);
    auto p = pipeline(node("probe.where") >> (node("probe.pass") | node("probe.pass")) >> node("probe.where"), 4);
    const Value result = p.run(1);
    CHECK(thread_of(result) == thread_of(caller));
    CHECK(thread_of(get(result, "input").at(0)) == thread_of(caller));
}

TEST_CASE("one job is a plain sequence in the order written") {
    auto p = pipeline(R"(probe.trace.named("a") >> (probe.trace.named("b") >> (probe.trace.named("c") |
                         probe.trace.named("d")) >> probe.trace.named("e") | probe.trace.named("f")) >>
                         probe.trace.named("g"))");
    const std::size_t before = threads();
    p.run(1);
    CHECK(diary() == std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"});
    CHECK(threads_become(before));
}

TEST_CASE("branches start in the order written") {
    auto p = pipeline(
        R"(probe.trace.named("a") >> probe.sleep(seconds=0.02) | probe.trace.named("b") >> probe.sleep(seconds=0.02) |
                         probe.trace.named("c") | probe.trace.named("d"))",
        2);
    p.run(1);
    auto order = diary();
    REQUIRE(order.size() == 4);
    CHECK(std::set<std::string>(order.begin(), order.begin() + 2) == std::set<std::string>{"a", "b"});
}

TEST_CASE("waves nested deep never deadlock whatever the number of jobs") {
    for (const std::size_t jobs : {1U, 2U, 3U, 8U}) {
        auto p = pipeline(nested(8), jobs);
        Value first;
        for (int run = 0; run < 20; ++run) {
            const Value result = p.run(0);
            if (run == 0) first = result;
            REQUIRE(result == first);
        }
    }
}

TEST_CASE("waves nested a thousand deep run") {
    Graph graph;
    graph.add("probe.add", {}, "top");
    std::string above = "top";
    for (int i = 0; i < 1000; ++i) {
        const std::string n = std::to_string(i);
        graph.add("probe.pass", {}, "side" + n);
        graph.add("probe.add", {}, "down" + n);
        graph.connect(above, "side" + n);
        graph.connect(above, "down" + n);
        above = "down" + n;
    }
    for (const std::size_t jobs : {1U, 4U}) {
        auto p = pipeline(graph, jobs);
        const Value result = p.run(0);
        REQUIRE(result.size() == 1001);
        std::int64_t greatest = 0;
        for (std::size_t i = 0; i < result.size(); ++i) greatest = std::max(greatest, result.at(i).as_int());
        CHECK(greatest == 1001);
    }
}

TEST_CASE("results are the same whatever the number of jobs") {
    const char* text = R"(probe.add >> (probe.add >> (probe.add | probe.add >> probe.add) >> probe.add | probe.add |
                          (probe.add | probe.pass) >> probe.add) >> probe.add)";
    const Value expected = pipeline(text, 1).run(3);
    for (const std::size_t jobs : {2U, 3U, 8U}) {
        auto p = pipeline(text, jobs);
        for (int run = 0; run < 200; ++run) REQUIRE(p.run(3) == expected);
    }
}

TEST_CASE("one driver serves several pipelines run at once") {
    const auto driver = thread_driver(3);
    CHECK(driver->jobs() == 3);
    const auto executor = [&] {
        auto p = pipeline("probe.add >> (probe.add | probe.add >> (probe.add | probe.add) >> probe.add)");
        std::vector<std::shared_ptr<Instance>> instances;
        for (const Node& n : p.graph().nodes()) {
            instances.push_back(Instance::create(probes().get(n.type), n.id, n.config, std::nullopt, 0));
        }
        return Executor(p.plan(), std::move(instances), {}, driver);
    };
    std::vector<Executor> executors;
    for (int i = 0; i < 4; ++i) executors.push_back(executor());
    std::atomic<int> right{0};
    std::vector<std::thread> callers;
    for (Executor& each : executors) {
        callers.emplace_back([&] {
            for (int run = 0; run < 300; ++run) right += each.run(run) == Value::list({run + 2, 2 * run + 6});
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(right == 1200);
}

TEST_CASE("a wave of no branches is over at once and leaves nothing behind") {
    std::atomic<int> ran{0};
    const auto count = [](void* context, std::size_t) noexcept { ++*static_cast<std::atomic<int>*>(context); };
    for (const auto& driver : {sequential_driver(), thread_driver(3)}) {
        ran = 0;
        for (int i = 0; i < 100; ++i) {
            driver->run_wave({count, &ran, 0});
            driver->run_wave({count, &ran, 3});
        }
        CHECK(ran == 300);
    }
}

TEST_CASE("a driver of one job is the sequential one and none means one a core") {
    CHECK(sequential_driver()->jobs() == 1);
    CHECK(thread_driver(1)->jobs() == 1);
    CHECK(thread_driver(0)->jobs() == std::max(1U, std::thread::hardware_concurrency()));
}

TEST_CASE("workers start with the first wave and are joined with their pipeline") {
    const std::size_t before = threads();
    {
        auto chain = pipeline(node("probe.add") >> node("probe.add"), 4);
        chain.run(1);
        CHECK(threads_become(before));
        auto wave = pipeline(node("probe.add") | node("probe.add"), 4);
        CHECK(threads_become(before));
        for (int run = 0; run < 20; ++run) {
            wave.run(1);
            REQUIRE(threads_become(before + 3));
        }
    }
    CHECK(threads_become(before));
}

TEST_CASE("workers that slept wake for the next wave") {
    auto p = pipeline(barrier("woken", 2) | barrier("woken", 2), 2);
    for (int run = 0; run < 20; ++run) {
        const auto on = ints(p.run(Value()));
        REQUIRE(on[0] != on[1]);
        std::this_thread::sleep_for(std::chrono::milliseconds(run % 4 * 5));
    }
}

TEST_CASE("with a seed every node gets the same seed on every run and any number of jobs") {
    const Wire where =
        node("probe.where").named("a") | node("probe.where").named("b") >> node("probe.where").named("c");
    RunOptions options;
    options.seed = 7;
    const auto seeds = [&](Pipeline& p) {
        const Value result = p.run(1, options);
        return std::vector<std::int64_t>{get(result.at(0), "seed").as_int(), get(result.at(1), "seed").as_int(),
                                         get(get(result.at(1), "input"), "seed").as_int()};
    };
    auto first = pipeline(where, 1);
    const auto expected = seeds(first);
    CHECK(std::set<std::int64_t>(expected.begin(), expected.end()).size() == 3);
    for (const std::size_t jobs : {1U, 2U, 4U}) {
        auto p = pipeline(where, jobs);
        for (int run = 0; run < 20; ++run) REQUIRE(seeds(p) == expected);
    }
    options.seed = 8;
    CHECK(seeds(first) != expected);
    options.seed.reset();
    CHECK(seeds(first) != seeds(first));
}

TEST_CASE("with a seed the nodes of a pipeline inside a node get the same seeds on every run") {
    const std::string wire = "probe.where | probe.where.named(\"b\")";
    const auto inner = [&] { return node("inner.run", {{"wire", wire}, {"jobs", 2}}); };
    const auto seeds = [](Pipeline& p, const RunOptions& options) {
        std::vector<std::int64_t> all;
        for (const Value& one : items(p.run(1, options))) {
            for (const Value& seen : items(one)) all.push_back(get(seen, "seed").as_int());
        }
        return all;
    };
    RunOptions options;
    options.seed = 7;
    auto alone = pipeline(inner() | inner(), 1);
    const auto expected = seeds(alone, options);
    CHECK(std::set<std::int64_t>(expected.begin(), expected.end()).size() == 4);
    for (const std::size_t jobs : {1U, 2U}) {
        auto p = pipeline(inner() | inner(), jobs);
        for (int run = 0; run < 20; ++run) REQUIRE(seeds(p, options) == expected);
    }
    options.seed = 8;
    CHECK(seeds(alone, options) != expected);
    options.seed.reset();
    CHECK(seeds(alone, options) != seeds(alone, options));
}

TEST_CASE("a node that runs its pipeline twice gives each run a seed of its own") {
    auto inside = pipeline(node("probe.where"));
    auto p = pipeline(doing([&](const soma_ctx&, const Value&) {
        return Value::list({get(inside.run(1), "seed"), get(inside.run(1), "seed")});
    }));
    RunOptions options;
    options.seed = 7;
    const auto both = ints(p.run(1, options));
    CHECK(both[0] != both[1]);
    CHECK(ints(p.run(1, options)) == both);
}

TEST_CASE("a node's seed depends on its id and not on its neighbours") {
    RunOptions options;
    options.seed = 7;
    auto alone = pipeline(node("probe.where").named("x"));
    auto among = pipeline(node("probe.pass") >> (node("probe.pass") | node("probe.where").named("x")), 2);
    CHECK(get(alone.run(1, options), "seed") == get(among.run(1, options).at(1), "seed"));
}

TEST_CASE("every node of a run sees the same run id and the next run another") {
    auto p = pipeline(node("probe.where") | node("probe.where"), 2);
    const Value first = p.run(1);
    const Value second = p.run(1);
    CHECK(get(first.at(0), "run") == get(first.at(1), "run"));
    CHECK_FALSE(get(first.at(0), "run") == get(second.at(0), "run"));
}

TEST_CASE("training mode reaches every node") {
    auto p = pipeline(node("probe.where") | node("probe.where"), 2);
    CHECK(get(p.run(1).at(1), "training") == Value(false));
    RunOptions options;
    options.training = true;
    CHECK(get(p.run(1, options).at(1), "training") == Value(true));
    CHECK(get(p.run(1).at(0), "training") == Value(false));
    p.train();
    CHECK(get(p.run(1).at(1), "training") == Value(true));
    p.train(false);
    CHECK(get(p.run(1).at(1), "training") == Value(false));
}

TEST_CASE("progress is told of every node once") {
    auto p = pipeline(nested(4), 4);
    std::vector<std::string> seen;
    RunOptions options;
    options.progress = [&](const std::string& id) { seen.push_back(id); };
    p.run(1, options);
    std::sort(seen.begin(), seen.end());
    auto expected = p.nodes();
    std::sort(expected.begin(), expected.end());
    CHECK(seen == expected);
}

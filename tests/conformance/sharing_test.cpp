// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

/// Runs `act` on that many threads at once, and returns when all are done.
template <class Act>
void at_once(int count, Act act) {
    std::vector<std::thread> callers;
    for (int i = 0; i < count; ++i) callers.emplace_back([&, i] { act(i); });
    for (std::thread& caller : callers) caller.join();
}

} // namespace

TEST_CASE("a node that is not re-entrant is never entered twice at once when several threads run its pipeline") {
    auto p = pipeline(node("probe.solo") >> node("probe.solo"), 2);
    std::atomic<int> failed{0};
    at_once(4, [&](int) {
        for (int run = 0; run < 25; ++run) {
            try {
                p.run(Value());
            } catch (const Error&) {
                ++failed;
            }
        }
    });
    CHECK(failed == 0);
    CHECK(p.run(Value()) == Value(101)); // nothing was counted away
}

TEST_CASE("a re-entrant node is entered by several threads at once") {
    auto p = pipeline(node("probe.barrier", {{"key", "reentrant"}, {"parties", 3}}));
    std::atomic<int> met{0};
    at_once(3, [&](int) {
        p.run(Value());
        ++met;
    });
    CHECK(met == 3);
}

TEST_CASE("one pipeline run from several threads gives each its own result") {
    auto p = pipeline("probe.add >> (probe.add | probe.add >> probe.add >> (probe.pass | probe.pass) >> probe.add)", 3);
    std::atomic<int> wrong{0};
    at_once(6, [&](int caller) {
        for (int run = 0; run < 100; ++run) {
            const std::int64_t x = caller * 1000 + run;
            wrong += !(p.run(x) == Value::list({x + 2, 2 * (x + 3)}));
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("each thread's run has its own failures and its own options") {
    auto p = pipeline(node("probe.add") >> (node("probe.add") | node("probe.where").named("seen")), 2);
    std::atomic<int> wrong{0};
    at_once(4, [&](int caller) {
        for (int run = 0; run < 50; ++run) {
            if (caller % 2 == 0) {
                const bool failed = error_of<NodeError>([&] { p.run("text"); }) != "no error";
                wrong += !failed || p.failures().size() != 1;
            } else {
                RunOptions options;
                options.training = caller == 1;
                options.keep = {"add"};
                std::vector<Value> kept;
                options.kept = &kept;
                const Value result = p.run(run, options);
                wrong += !(get(result.at(1), "training") == Value(caller == 1)) || !p.failures().empty() ||
                         !(kept == std::vector<Value>{run + 1});
            }
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("a pipeline inside a node three deep runs with one worker") {
    const std::string deepest = "(probe.add | probe.add) >> probe.add";
    const auto inside = [](const std::string& wire, int jobs) {
        return "(inner.run(wire=" + to_json(Value(wire)) + ", jobs=" + std::to_string(jobs) +
               ") | probe.add) >> probe.add";
    };
    for (const int jobs : {1, 2}) { // one job: the caller alone; two: one worker
        auto p = pipeline(inside(inside(inside(deepest, jobs), jobs), jobs), static_cast<std::size_t>(jobs));
        for (int run = 0; run < 50; ++run) {
            // deepest gives 2x + 2; each level around it adds x + 1
            REQUIRE(p.run(run) == Value(5 * run + 5));
        }
    }
}

TEST_CASE("pipelines inside the nodes of several branches run at once") {
    const Wire inner = node("inner.run", {{"wire", "probe.add | probe.add >> probe.add"}, {"jobs", 2}});
    const Wire other = node("inner.run", {{"wire", "probe.add | probe.add >> probe.add"}, {"jobs", 2}});
    auto p = pipeline(inner | other | node("probe.add"), 2);
    for (int run = 0; run < 100; ++run)
        REQUIRE(p.run(run) == Value::list({Value::list({run + 1, run + 2}), Value::list({run + 1, run + 2}), run + 1}));
}

TEST_CASE("a failure inside a pipeline inside a node names both nodes") {
    auto p = pipeline(node("inner.run", {{"wire", "probe.add >> probe.fail.named(\"deep\")"}}).named("outer"));
    const std::string error = error_of<NodeError>([&] { p.run(1); });
    CHECK(error == "node `outer` failed: node `deep` failed: the lamp went out (plugin `probe`) (plugin `inner`)");
}

TEST_CASE("a node that runs the pipeline it is in is refused and not waited for for ever") {
    for (const std::size_t jobs : {1U, 3U}) {
        auto p = pipeline(node("inner.again").named("a") | node("probe.add"), jobs);
        running_again = &p;
        const std::string error = error_of<NodeError>([&] { p.run(1); });
        CHECK(error.find("node `a` failed: it is entered again from inside itself") != std::string::npos);
        CHECK(error.starts_with("node `a` failed: node `a` failed: "));
    }
    running_again = nullptr;
}

// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

namespace {

Wire fail(std::string_view id, double after = 0) {
    return node("probe.fail", {{"text", "lamp " + std::string(id)}, {"after", after}}).named(id);
}
std::string said(std::string_view id) {
    return "node `" + std::string(id) + "` failed: lamp " + std::string(id) + " (plugin `probe`)";
}
Wire trace(std::string_view id) { return node("probe.trace").named(id); }
Wire meet(std::string_view key, int parties) { return node("probe.barrier", {{"key", key}, {"parties", parties}}); }
Wire nap(double seconds, bool deaf = false) { return node("probe.sleep", {{"seconds", seconds}, {"deaf", deaf}}); }

/// What a pipeline of the one node, named `n`, fails with.
std::string failure_of(std::string_view type, std::vector<std::pair<std::string, Value>> config = {}) {
    auto p = pipeline(node(type, std::move(config)).named("n"));
    const std::string error = error_of<NodeError>([&] { p.run(1); });
    CHECK(p.failures() == Texts{error});
    return error;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

TEST_CASE("a std exception is named with node and plugin and cause") {
    CHECK(failure_of("probe.fail", {{"how", "exception"}}) == "node `n` failed: the lamp went out (plugin `probe`)");
}

TEST_CASE("something thrown that is no exception is named with its type") {
    CHECK(failure_of("probe.fail", {{"how", "int"}}) ==
          "node `n` failed: an exception of type `int` was thrown (plugin `probe`)");
    CHECK(failure_of("probe.fail", {{"how", "struct"}}) ==
          "node `n` failed: an exception of type `probe::Unlikely` was thrown (plugin `probe`)");
}

TEST_CASE("an error status is named with its message") {
    CHECK(failure_of("probe.fail", {{"how", "error"}}) == "node `n` failed: the lamp went out (plugin `probe`)");
    CHECK(failure_of("probe.fail", {{"how", "memory"}}) == "node `n` failed: out of memory (plugin `probe`)");
}

TEST_CASE("exceptions that come through the C interface are caught and named") {
    CHECK(failure_of("rude.throws") == "node `n` failed: it came through (plugin `rude`)");
    const std::string error = failure_of("rude.throws_int");
    CHECK(error.starts_with("node `n` failed: "));
    CHECK(error.ends_with(" (plugin `rude`)"));
}

TEST_CASE("a node that returns no value is named") {
    CHECK(failure_of("rude.nothing") == "node `n` failed: it returned no value (plugin `rude`)");
    CHECK(pipeline(node("rude.none")).run(1).is_none()); // none is a value
}

TEST_CASE("an outcome of an unknown kind is refused by number") {
    CHECK(failure_of("rude.other_kind") ==
          "node `n` failed: it returned an outcome of kind 9, which this host does not know (plugin `rude`)");
}

TEST_CASE("the cause of an error status is told and a value beside it does not count") {
    CHECK(failure_of("rude.value_and_error") == "node `n` failed: the ink is dry: the sun shone (plugin `rude`)");
}

TEST_CASE("a node that cannot be made is named with its plugin") {
    try {
        pipeline(node("probe.pass") >> node("probe.unborn").named("golem"));
        FAIL("it was made");
    } catch (const NodeError& error) {
        CHECK(error.node() == "golem");
        CHECK(error.plugin() == "probe");
        CHECK(std::string(error.what()).find("`golem`") != std::string::npos);
        CHECK(std::string(error.what()).find("there is no clay") != std::string::npos);
    }
}

TEST_CASE("a failure carries its node and its plugin") {
    auto p = pipeline(node("probe.pass") >> fail("wick"));
    try {
        p.run(1);
        FAIL("it did not fail");
    } catch (const NodeError& error) {
        CHECK(error.node() == "wick");
        CHECK(error.plugin() == "probe");
        CHECK(error.what() == said("wick"));
    }
}

TEST_CASE("the failure thrown is the sequential one on each of 100 runs and all are kept") {
    // In time b and d fail before a; in the order written a is first. Had b failed before d began, d would not begin.
    std::atomic<int> entered{0}; // of b and d
    std::atomic<bool> failing{false};
    const auto wait = [](const auto& until) {
        while (!until()) std::this_thread::sleep_for(100us);
    };
    const auto fails = [&](const char* id) {
        return doing([&, id](const soma_ctx&, const Value&) -> Value {
                   ++entered;
                   wait([&] { return entered == 2; });
                   throw std::runtime_error("lamp " + std::string(id));
               })
            .named(id);
    };
    const auto fails_last = doing([&](const soma_ctx&, const Value&) -> Value {
        wait([&] { return entered == 2; });
        std::this_thread::sleep_for(1ms);
        failing = true;
        throw std::runtime_error("lamp a");
    });
    const auto outlasts = doing([&](const soma_ctx&, const Value& input) {
        wait([&] { return failing.load(); });
        std::this_thread::sleep_for(20ms);
        return input;
    });
    auto p = pipeline(fails_last.named("a") | fails("b") | outlasts >> trace("after_c") | fails("d"), 4);
    diary();
    for (int run = 0; run < 100; ++run) {
        entered = 0;
        failing = false;
        const auto lamp = [](const std::string& id) {
            return "node `" + id + "` failed: lamp " + id + " (plugin `inner`)";
        };
        REQUIRE(error_of<NodeError>([&] { p.run(1); }) == lamp("a"));
        REQUIRE(p.failures() == Texts{lamp("a"), lamp("b"), lamp("d")});
    }
    CHECK(diary().empty());
    auto alone = pipeline(fail("a") | fail("b") | trace("after_c") | fail("d"), 1);
    CHECK(error_of<NodeError>([&] { alone.run(1); }) == said("a"));
    CHECK(alone.failures() == Texts{said("a")});
}

TEST_CASE("siblings written before a failing branch finish and those after it stop at their next node") {
    // They meet first, so that all three are under way when b fails.
    auto p = pipeline(meet("siblings", 3) >> nap(0.03) >> trace("before") | meet("siblings", 3) >> fail("b") |
                          meet("siblings", 3) >> nap(0.05) >> trace("after"),
                      3);
    for (int run = 0; run < 10; ++run) {
        REQUIRE(error_of<NodeError>([&] { p.run(1); }) == said("b"));
        REQUIRE(p.failures() == Texts{said("b")});
        REQUIRE(diary() == Texts{"before"});
    }
}

TEST_CASE("a branch in a nested wave stops when a branch before its outer one failed") {
    auto p =
        pipeline(meet("nested", 3) >> fail("a") | node("probe.pass") >> (meet("nested", 3) >> nap(0.05) >> trace("x") |
                                                                         meet("nested", 3) >> nap(0.05) >> trace("y")),
                 4);
    for (int run = 0; run < 10; ++run) {
        REQUIRE(error_of<NodeError>([&] { p.run(1); }) == said("a"));
        REQUIRE(diary().empty());
    }
}

TEST_CASE("nothing after a wave runs when a branch of it failed") {
    auto p = pipeline((node("probe.pass") | fail("b") | node("probe.pass")) >> trace("after"), 3);
    for (int run = 0; run < 20; ++run) {
        REQUIRE(error_of<NodeError>([&] { p.run(1); }) == said("b"));
        REQUIRE(diary().empty());
    }
}

TEST_CASE("the run after a failed one works") {
    auto p = pipeline(
        node("probe.add") >> (node("probe.add") | node("probe.add") >> node("probe.add")) >> node("probe.add"), 2);
    for (int run = 0; run < 50; ++run) {
        REQUIRE_THROWS_AS(p.run("no number"), NodeError);
        REQUIRE(p.failures().size() >= 1);
        REQUIRE(p.run(run) == Value(2 * run + 5));
        REQUIRE(p.failures().empty());
    }
}

TEST_CASE("failing 100 times leaves as many threads as failing twice and all are joined in the end") {
    const std::size_t before = threads();
    {
        auto p = pipeline(fail("a", 0.0005) | fail("b") | node("probe.pass") >> (fail("c") | node("probe.pass")), 4);
        for (int run = 0; run < 2; ++run) CHECK_THROWS_AS(p.run(1), NodeError);
        const std::size_t after_two = threads();
        CHECK(after_two == before + 3);
        for (int run = 2; run < 100; ++run) CHECK_THROWS_AS(p.run(1), NodeError);
        CHECK(threads_become(after_two));
    }
    CHECK(threads_become(before));
}

TEST_CASE("cancelling reaches a node through its context and names the node that was running") {
    auto p = pipeline(node("probe.pass") >> nap(20).named("slow") >> trace("after"));
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        p.cancel();
    });
    const auto begin = std::chrono::steady_clock::now();
    CHECK(error_of<CancelledError>([&] { p.run(1); }) == "run cancelled while node `slow` was running");
    CHECK(seconds_since(begin) < 10);
    other.join();
    CHECK(p.failures() == Texts{"run cancelled while node `slow` was running"});
    CHECK(diary().empty());
}

TEST_CASE("cancelling a node that never asks ends the run at the node's end") {
    auto p = pipeline(nap(0.2, true).named("deaf") >> trace("after"));
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        p.cancel();
    });
    CHECK(error_of<CancelledError>([&] { p.run(1); }) == "run cancelled while node `deaf` was running");
    other.join();
    CHECK(diary().empty());
}

TEST_CASE("cancelling ends every branch of a wave and the next run works") {
    auto p =
        pipeline((nap(20).named("a") | nap(20).named("b") >> trace("after") | nap(20).named("c")) >> trace("last"), 3);
    for (int run = 0; run < 5; ++run) {
        std::thread other([&] {
            std::this_thread::sleep_for(30ms);
            p.cancel();
        });
        CHECK(error_of<CancelledError>([&] { p.run(1); }) == "run cancelled while node `a` was running");
        other.join();
        for (const std::string& failure : p.failures()) REQUIRE(failure.starts_with("run cancelled "));
        REQUIRE(diary().empty());
    }
    auto quick = pipeline(nap(0.001) | nap(0.001), 2);
    quick.cancel(); // nothing is under way: nothing happens
    CHECK(quick.run(1) == parse_json("[1, 1]"));
}

TEST_CASE("cancelling ends every run under way and no other") {
    auto p = pipeline(nap(20).named("slow"));
    std::atomic<int> cancelled{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
        callers.emplace_back([&] {
            cancelled += error_of<CancelledError>([&] { p.run(1); }) == "run cancelled while node `slow` was running";
        });
    }
    std::this_thread::sleep_for(100ms);
    p.cancel();
    for (std::thread& caller : callers) caller.join();
    CHECK(cancelled == 3);
    auto other = pipeline(nap(0.001));
    CHECK(other.run(1) == Value(1));
}

TEST_CASE("a run that takes too long ends and names the node that was running") {
    auto p = pipeline(node("probe.pass") >> nap(20).named("slow") >> trace("after"));
    RunOptions options;
    options.timeout = 50ms;
    const auto begin = std::chrono::steady_clock::now();
    CHECK(error_of<CancelledError>([&] { p.run(1, options); }) ==
          "run took longer than 0.05 s while node `slow` was running");
    CHECK(seconds_since(begin) < 10);
    CHECK(diary().empty());

    options.timeout = 10s;
    auto quick = pipeline(nap(0.001) | nap(0.001), 2);
    CHECK(quick.run(1, options) == parse_json("[1, 1]"));
}

TEST_CASE("a deadline that has passed ends the run before the next node begins") {
    auto p = pipeline(nap(0.1, true).named("deaf") >> trace("after"));
    RunOptions options;
    options.timeout = 20ms;
    CHECK(error_of<CancelledError>([&] { p.run(1, options); }) ==
          "run took longer than 0.02 s while node `deaf` was running");
    options.timeout = 0ns;
    CHECK(error_of<CancelledError>([&] { p.run(1, options); }) == "run took longer than 0 s before node `deaf` began");
    CHECK(diary().empty());
}

TEST_CASE("the longest timeout there is is no timeout") {
    auto p = pipeline(nap(0.001));
    RunOptions options;
    options.timeout = std::chrono::nanoseconds::max();
    CHECK(p.run(1, options) == Value(1));
}

TEST_CASE("a run that times out in a wave leaves the pipeline usable") {
    auto p = pipeline((nap(0.2).named("a") | nap(0.2)) >> node("probe.pass"), 2);
    RunOptions options;
    options.timeout = 10ms;
    for (int run = 0; run < 5; ++run) {
        CHECK(error_of<CancelledError>([&] { p.run(1, options); }) ==
              "run took longer than 0.01 s while node `a` was running");
    }
    CHECK(p.run(1) == parse_json("[1, 1]"));
}

TEST_CASE("a node that fails once the run was cancelled counts as cancelled") {
    auto p = pipeline(fail("a", 0.1) | nap(20).named("b"), 2);
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        p.cancel();
    });
    CHECK_THROWS_AS(p.run(1), CancelledError);
    other.join();
    for (const std::string& failure : p.failures()) CHECK(failure.starts_with("run cancelled while node `"));
}

TEST_CASE("cancelling reaches the nodes of a pipeline inside a node and names the node that holds it") {
    // Three deep; the innermost is a wave, so that workers are told as well.
    std::string wire = "probe.sleep(seconds=20) | probe.sleep(seconds=20) >> probe.trace";
    for (int depth = 0; depth < 2; ++depth) wire = "inner.run(wire=" + to_json(Value(wire)) + ", jobs=2)";
    for (const std::size_t jobs : {1U, 2U}) {
        auto p = pipeline(node("inner.run", {{"wire", wire}}).named("outer"), jobs);
        const auto begin = std::chrono::steady_clock::now();
        std::thread other([&] {
            std::this_thread::sleep_for(50ms);
            p.cancel();
        });
        CHECK(error_of<CancelledError>([&] { p.run(1); }) == "run cancelled while node `outer` was running");
        other.join();
        CHECK(seconds_since(begin) < 10);
        CHECK(diary().empty());
    }
}

TEST_CASE("a deadline reaches the nodes of a pipeline inside a node") {
    const std::string wire = "probe.sleep(seconds=20) | probe.pass";
    auto p = pipeline(node("inner.run", {{"wire", wire}, {"jobs", 2}}).named("outer") >> trace("after"));
    RunOptions options;
    options.timeout = 50ms;
    const auto begin = std::chrono::steady_clock::now();
    CHECK(error_of<CancelledError>([&] { p.run(1, options); }) ==
          "run took longer than 0.05 s while node `outer` was running");
    CHECK(seconds_since(begin) < 10);
    CHECK(diary().empty());
}

TEST_CASE("a pipeline inside a node whose nodes never ask ends between two of them") {
    const std::string wire = "probe.sleep(seconds=0.2, deaf=true) >> probe.trace.named(\"inside\")";
    auto p = pipeline(node("inner.run", {{"wire", wire}}).named("outer"));
    RunOptions options;
    options.timeout = 20ms;
    CHECK(error_of<CancelledError>([&] { p.run(1, options); }) ==
          "run took longer than 0.02 s while node `outer` was running");
    CHECK(diary().empty());
    options.timeout = 10s;
    CHECK(p.run(1, options) == Value(1)); // and both pipelines are usable
    CHECK(diary() == Texts{"inside"});
}

TEST_CASE("what a progress callback throws ends the run and names the node") {
    auto p = pipeline(node("probe.add").named("x") >> (node("probe.add").named("y") | node("probe.add").named("z")) >>
                          trace("after"),
                      2);
    RunOptions options;
    options.progress = [](const std::string& id) {
        if (id == "z") throw std::runtime_error("the screen is full");
    };
    try {
        p.run(1, options);
        FAIL("it did not end");
    } catch (const NodeError& error) {
        CHECK(error.node() == "z");
        CHECK(std::string(error.what()) == "the run failed after node `z`: the screen is full");
    }
    CHECK(diary().empty());
    CHECK(p.run(1) == parse_json("[3, 3]"));
    diary();
}

TEST_CASE("a pipeline can be cancelled from its own progress callback") {
    auto p = pipeline(node("probe.add").named("x") >> trace("after"));
    RunOptions options;
    options.progress = [&](const std::string&) { p.cancel(); };
    CHECK(error_of<CancelledError>([&] { p.run(1, options); }) == "run cancelled while node `x` was running");
    CHECK(diary().empty());
}

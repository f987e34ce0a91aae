// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

/// Items 0 to count - 1, one a call.
std::function<std::optional<Value>()> counting(int count) {
    return [count, next = 0]() mutable { return next < count ? std::optional<Value>(next++) : std::nullopt; };
}

ManyOptions in_flight(std::size_t count) {
    ManyOptions options;
    options.in_flight = count;
    return options;
}

std::string text_of(const std::exception_ptr& error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const std::exception& failure) {
        return failure.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("results of many items come in the order of the items whatever is in flight") {
    // Later items are quicker.
    auto p = pipeline(doing([](const soma_ctx&, const Value& x) {
                          std::this_thread::sleep_for(std::chrono::microseconds(3000 - 100 * (x.as_int() % 30)));
                          return x;
                      }) >>
                          node("probe.add"),
                      2);
    for (const std::size_t count : {0U, 1U, 2U, 5U}) {
        std::vector<std::int64_t> results;
        p.run_many(
            counting(30),
            [&](ItemResult item) {
                REQUIRE(item.index == results.size());
                REQUIRE_FALSE(item.error);
                results.push_back(item.result.as_int());
            },
            in_flight(count));
        REQUIRE(results.size() == 30);
        for (int i = 0; i < 30; ++i) REQUIRE(results[static_cast<std::size_t>(i)] == i + 1);
    }
}

TEST_CASE("no more items are under way than may be in flight") {
    auto p = pipeline(node("probe.sleep", {{"seconds", 0.001}}));
    for (const int most : {1, 2, 4}) {
        std::atomic<int> taken{0};
        std::atomic<int> handed{0};
        std::atomic<int> greatest{0};
        p.run_many(
            [&]() -> std::optional<Value> {
                if (taken == 40) return std::nullopt;
                const int now = ++taken - handed;
                greatest = std::max<int>(greatest, now);
                return Value(1);
            },
            [&](ItemResult) {
                ++handed;
                if (handed % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            },
            in_flight(static_cast<std::size_t>(most)));
        CHECK(handed == 40);
        // One that is being handed out is still counted as taken when the next is asked for.
        CHECK(greatest <= most);
    }
}

TEST_CASE("several items are under way at once") {
    auto p = pipeline(node("probe.barrier", {{"key", "items"}, {"parties", 3}}));
    std::size_t done = 0;
    p.run_many(
        counting(9),
        [&](ItemResult item) {
            REQUIRE_FALSE(item.error);
            ++done;
        },
        in_flight(3));
    CHECK(done == 9);
}

TEST_CASE("an item that waits for the next one gets it also after many that took no time") {
    std::atomic<int> waiting{0};
    auto p = pipeline(doing([&](const soma_ctx&, const Value& x) {
        if (x.as_int() < 500) return x;
        ++waiting;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (waiting < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        return Value(waiting == 2);
    }));
    std::vector<Value> results;
    p.run_many(
        counting(502), [&](ItemResult item) { results.push_back(item.result); }, in_flight(2));
    REQUIRE(results.size() == 502);
    CHECK(results[500] == Value(true));
    CHECK(results[501] == Value(true));
}

TEST_CASE("many items within many items have threads of their own") {
    std::atomic<int> waiting{0};
    auto p = pipeline(doing([&](const soma_ctx&, const Value& x) {
        if (x.as_int() != 100) return x;
        ++waiting;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (waiting < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        return Value(waiting == 2);
    }));
    const auto both_wait = [&] {
        waiting = 0;
        int left = 2;
        std::size_t met = 0;
        p.run_many([&]() -> std::optional<Value> { return left-- > 0 ? std::optional(Value(100)) : std::nullopt; },
                   [&](ItemResult item) { met += item.result == Value(true) ? 1U : 0U; }, in_flight(2));
        return met;
    };
    const auto within = [&] {
        std::size_t met = 0;
        p.run_many(
            counting(50),
            [&](ItemResult item) {
                if (item.index != 20) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(5)); // the outer call's helper is at work by now
                met = both_wait();
            },
            in_flight(2));
        return met;
    };
    CHECK(within() == 2);
    for (const int pause : {0, 1, 5, 60}) { // by the last, the threads sleep
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
        CHECK(within() == 2);
    }
}

TEST_CASE("what a call of many items was given is gone when it returns") {
    auto p = pipeline(node("probe.add"));
    for (int i = 0; i < 20; ++i) {
        auto given = std::make_shared<int>(0);
        ManyOptions options = in_flight(3);
        options.run.progress = [given](const std::string&) {};
        p.run_many(
            counting(5), [](ItemResult) {}, options);
        options = {};
        REQUIRE(given.use_count() == 1);
    }
}

TEST_CASE("an item that fails says so in its result and the others go on") {
    auto p = pipeline(node("probe.add").named("a") >> doing([](const soma_ctx&, const Value& x) {
                                                          if (x.as_int() % 5 == 0) throw std::runtime_error("no fives");
                                                          return x;
                                                      }).named("b"),
                      2);
    std::vector<std::size_t> failed;
    std::size_t count = 0;
    p.run_many(
        counting(20),
        [&](ItemResult item) {
            ++count;
            if (!item.error) return;
            failed.push_back(item.index);
            REQUIRE(text_of(item.error) == "node `b` failed: no fives (plugin `inner`)");
            REQUIRE(item.result.is_none());
        },
        in_flight(3));
    CHECK(count == 20);
    CHECK(failed == std::vector<std::size_t>{4, 9, 14, 19});
}

TEST_CASE("what the source of many items throws ends it all and is thrown on") {
    auto p = pipeline(node("probe.add"));
    int taken = 0;
    std::size_t done = 0;
    const auto broken = [&]() -> std::optional<Value> {
        if (taken++ == 5) throw std::runtime_error("the disk is gone");
        return Value(taken);
    };
    CHECK(error_of<std::exception>([&] {
              p.run_many(
                  broken, [&](ItemResult) { ++done; }, in_flight(3));
          }) == "the disk is gone");
    CHECK(taken == 6);
    CHECK(done <= 5);
    CHECK(p.run(1) == Value(2));
}

TEST_CASE("what the taker of many results throws ends it all and is thrown on") {
    auto p = pipeline(node("probe.add"));
    for (const std::size_t count : {1U, 3U}) {
        std::size_t done = 0;
        CHECK(error_of<std::exception>([&] {
                  p.run_many(
                      counting(1000),
                      [&](ItemResult) {
                          if (++done == 4) throw std::runtime_error("the paper is out");
                      },
                      in_flight(count));
              }) == "the paper is out");
        CHECK(done == 4);
    }
}

TEST_CASE("threads for many items are kept for the next ones and joined with the pipeline") {
    const std::size_t before = threads();
    {
        auto p = pipeline(node("probe.add") | node("probe.add"), 1);
        for (int i = 0; i < 50; ++i) {
            p.run_many(
                counting(20), [](ItemResult) {}, in_flight(4));
        }
        CHECK(threads() == before + 3);
    }
    CHECK(threads_become(before));
}

TEST_CASE("no items give no results") {
    auto p = pipeline(node("probe.add"));
    std::size_t done = 0;
    p.run_many(
        counting(0), [&](ItemResult) { ++done; }, in_flight(3));
    CHECK(done == 0);
}

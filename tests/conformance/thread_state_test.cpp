// SPDX-License-Identifier: Apache-2.0
//
// libtorch's state of a thread (grad mode, inference mode, autocast, intra-op threads) on every branch and in every
// nesting, and after nodes that change it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <torch/version.h>
#include <unistd.h>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/torch.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

void set_autocast(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(at::kCPU, on);
#else
    at::autocast::set_cpu_enabled(on);
#endif
}

/// The thread's state, told by what libtorch does under it and not by its flags.
Value state() {
    const at::Tensor leaf = at::ones({2, 2}, at::kFloat).requires_grad_(true);
    const at::Tensor product = at::mm(leaf, leaf);
    return Value::dict({{"recorded", product.requires_grad()},
                        {"inference", at::ones({1}).is_inference()},
                        {"mm gives", at::toString(product.scalar_type())},
                        {"default dtype", at::toString(at::ones({1}).scalar_type())}});
}

Wire see() {
    return doing([](const soma_ctx& ctx, const Value&) {
        return Value::dict({{"state", state()},
                            {"threads", at::get_num_threads()},
                            {"told grad", ctx.grad_mode != 0},
                            {"on", static_cast<std::int64_t>(::gettid())}});
    });
}

Wire meet(std::string_view key, int parties) { return node("probe.barrier", {{"key", key}, {"parties", parties}}); }

/// Looks from every branch of waves in waves, on as many threads as there are branches: all of them meet first.
Wire everywhere(std::string_view key) {
    return meet(key, 4) >> see() | meet(key, 4) >> see() |
           node("probe.pass") >> (meet(key, 4) >> see() | node("probe.pass") >> meet(key, 4) >> see());
}

/// What a node does to the thread's state and forgets to undo.
struct Change {
    const char* what;
    std::function<void()> make;
};

const std::vector<Change>& changes() {
    static const std::vector<Change> all{
        {"no grad", [] { at::GradMode::set_enabled(false); }},
        {"inference mode",
         [] {
             const auto inside = [] {
                 const c10::InferenceMode guard;
                 return at::ThreadLocalState();
             };
             at::ThreadLocalState::setThreadLocalState(inside());
         }},
        {"autocast", [] { set_autocast(true); }},
        {"default dtype", [] { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }},
    };
    return all;
}

/// The process has one default dtype: what a node does to it, siblings see for as long as the node runs.
int jobs_for(std::string_view change) { return change == "default dtype" ? 1 : 2; }

/// What a fresh thread of libtorch's finds.
template <class Read>
auto on_new_thread(Read read) {
    decltype(read()) result{};
    std::thread([&] { result = read(); }).join();
    return result;
}

/// Intra-op threads, set for a test and put back.
class Intraop {
public:
    explicit Intraop(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
    ~Intraop() { at::set_num_threads(before_); }

private:
    int before_;
};

/// Puts into `kept`, at every run, what the nodes made by `doing` return, in the order written.
RunOptions keeping(const Pipeline& p, std::vector<Value>& kept) {
    RunOptions options;
    for (const Node& n : p.graph().nodes()) {
        if (n.type == "inner.do") options.keep.push_back(n.id);
    }
    options.kept = &kept;
    return options;
}

} // namespace

TEST_CASE("sharing the intra-op threads among branches costs microseconds") {
    // libtorch's own way to set their number starts a thread pool anew: milliseconds for each. It is gone back to once a
    // node has used it, as nodes of other cases do: so this is the first.
    const Intraop caller(2);
    auto p = pipeline(node("probe.pass") | node("probe.pass"));
    p.run(Value());
    double least = 1;
    for (int run = 0; run < 50; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        p.run(Value());
        least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    CHECK(least < 100e-6);
    CHECK(at::get_num_threads() == 2);
}

TEST_CASE("no-grad and inference mode and autocast and default dtype hold on every branch and in every nesting") {
    auto p = pipeline(everywhere("state"), 4);
    const auto check = [&](const char* what) {
        INFO(what);
        const Value here = state();
        const bool grad = at::GradMode::is_enabled();
        for (int run = 0; run < 20; ++run) {
            const Value result = p.run(Value());
            REQUIRE(result.size() == 4);
            std::set<std::int64_t> on;
            for (const Value& seen : items(result)) {
                REQUIRE(to_json(get(seen, "state")) == to_json(here));
                REQUIRE(get(seen, "told grad") == Value(grad));
                on.insert(get(seen, "on").as_int());
            }
            REQUIRE(on.size() == 4);
        }
    };
    check("nothing special");
    const Value plain = state();
    {
        const at::NoGradGuard guard;
        check("no grad");
        CHECK_FALSE(state() == plain);
    }
    {
        const c10::InferenceMode guard;
        check("inference mode");
        CHECK_FALSE(state() == plain);
    }
    set_autocast(true);
    check("autocast");
    CHECK_FALSE(state() == plain);
    {
        const at::NoGradGuard guard;
        check("autocast and no grad");
    }
    set_autocast(false);
    c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
    check("default dtype");
    CHECK_FALSE(state() == plain);
    c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
    check("nothing special any more");
    CHECK(state() == plain);
}

TEST_CASE("each change that the next test makes is one that would be seen") {
    const Value plain = state();
    for (const Change& change : changes()) {
        INFO(change.what);
        CHECK(on_new_thread([&] {
            change.make();
            return !(state() == plain);
        }));
        c10::set_default_dtype(caffe2::TypeMeta::Make<float>()); // the one that belongs to the process
    }
    CHECK(state() == plain);
}

TEST_CASE("what a node changes is restored after it on the caller's thread and on every other") {
    const Value plain = state();
    for (const Change& change : changes()) {
        INFO(change.what);
        const auto rude = [&] {
            return doing([&change](const soma_ctx&, const Value& input) {
                change.make();
                return input;
            });
        };
        auto chain = pipeline(rude() >> see());
        CHECK(get(chain.run(Value()), "state") == plain);
        CHECK(state() == plain);

        const int jobs = jobs_for(change.what);
        auto wave = pipeline((meet("rude", jobs) >> rude() >> see() | meet("rude", jobs) >> rude() >> see()) >>
                                 node("probe.pass") >> (rude() >> see() | see() | node("probe.pass")),
                             static_cast<std::size_t>(jobs));
        for (int run = 0; run < 20; ++run) {
            const Value result = wave.run(Value());
            REQUIRE(get(result.at(0), "state") == plain);
            REQUIRE(get(result.at(1), "state") == plain);
            for (const Value& seen : items(result.at(2))) REQUIRE(get(seen, "state") == plain);
            REQUIRE(state() == plain);
        }
    }
}

TEST_CASE("what a node changes is restored also when it fails") {
    const Value plain = state();
    for (const Change& change : changes()) {
        INFO(change.what);
        const auto rude = [&] {
            return doing([&change](const soma_ctx&, const Value&) -> Value {
                change.make();
                throw std::runtime_error("left it like this");
            });
        };
        auto p = pipeline(see() | rude() | see(), 2);
        auto after = pipeline(everywhere("after a failure"), 4);
        for (int run = 0; run < 10; ++run) {
            CHECK_THROWS_AS(p.run(Value()), NodeError);
            REQUIRE(state() == plain);
            for (const Value& seen : items(after.run(Value()))) REQUIRE(get(seen, "state") == plain);
        }
    }
}

TEST_CASE("what a plugin that links libtorch changes is restored after it on every thread") {
    need_linked();
    const Intraop caller(2);
    const Value plain = state();
    for (const char* what : {"no grad", "inference mode", "autocast", "default dtype", "threads"}) {
        INFO(what);
        const auto change = [&](bool fail) { return node("linked.change", {{"what", what}, {"fail", fail}}); };
        const int jobs = jobs_for(what);
        auto wave = pipeline(change(false) >> see() >> (meet("linked", jobs) >> change(false) >> see() |
                                                        meet("linked", jobs) >> change(false) >> see()),
                             static_cast<std::size_t>(jobs));
        auto failing = pipeline(node("probe.pass") | change(true), 2);
        for (int run = 0; run < 20; ++run) {
            for (const Value& seen : items(wave.run(Value()))) {
                REQUIRE(get(seen, "state") == plain);
                REQUIRE(get(seen, "threads") == Value(1));
            }
            REQUIRE_THROWS_AS(failing.run(Value()), NodeError);
            REQUIRE(state() == plain);
            REQUIRE(at::get_num_threads() == 2);
        }
    }
}

TEST_CASE("a run under no-grad leaves nothing behind on the workers") {
    auto p = pipeline(everywhere("left behind"), 4);
    const Value plain = state();
    for (int run = 0; run < 20; ++run) {
        {
            const at::NoGradGuard guard;
            for (const Value& seen : items(p.run(Value()))) REQUIRE_FALSE(get(seen, "state") == plain);
        }
        for (const Value& seen : items(p.run(Value()))) REQUIRE(get(seen, "state") == plain);
    }
}

TEST_CASE("each of several threads that run one pipeline has its own state on all branches") {
    auto p = pipeline(node("probe.pass") >> (see() | see() | node("probe.pass") >> (see() | see())), 3);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&, caller] {
            const at::AutoGradMode grad(caller % 2 == 0);
            set_autocast(caller >= 2);
            const Value here = state();
            for (int run = 0; run < 100; ++run) {
                for (const Value& seen : items(p.run(Value()))) wrong += !(get(seen, "state") == here);
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(wrong == 0);
}

TEST_CASE("the state reaches a pipeline inside a node three deep") {
    static std::atomic<int> recorded{0};
    static std::atomic<int> seen{0};
    const auto look = [] {
        return doing([](const soma_ctx&, const Value& input) {
            recorded += state().find("recorded")->as_bool();
            ++seen;
            return input;
        });
    };
    // The acts are found by number, so text can wire them.
    const auto act = [](const Wire& wire) {
        return "inner.do(act=" + std::to_string(build(wire).graph.nodes()[0].config.find("act")->as_int()) + ")";
    };
    std::string wire = act(look());
    for (int depth = 0; depth < 3; ++depth) {
        wire = "(" + act(look()) + " | inner.run(wire=" + to_json(Value(wire)) + ", jobs=2))";
    }
    auto p = pipeline(wire, 2);
    for (int run = 0; run < 50; ++run) {
        const at::NoGradGuard guard;
        p.run(1);
    }
    CHECK(seen == 50 * 4);
    CHECK(recorded == 0);
}

TEST_CASE("eight branches share the intra-op threads of the caller and no more") {
    const Intraop caller(4);
    Wire wave = see();
    for (int i = 1; i < 8; ++i) wave = wave | see();
    auto p = pipeline(see() >> (wave) >> node("probe.pass"), 4);
    for (int run = 0; run < 20; ++run) {
        for (const Value& seen : items(p.run(Value()))) REQUIRE(get(seen, "threads") == Value(1));
        REQUIRE(at::get_num_threads() == 4);
    }
    CHECK(on_new_thread([] { return at::get_num_threads(); }) == 4);
}

TEST_CASE("eight branches of matmul start no threads beyond the jobs") {
    const Intraop caller(4);
    const Value x = from_tensor(at::rand({192, 192}));
    Wire wave = node("probe.matmul", {{"times", 10}});
    for (int i = 1; i < 8; ++i) wave = wave | node("probe.matmul", {{"times", 10}});
    pipeline(node("probe.matmul", {{"times", 10}})).run(x); // whatever libtorch starts for the caller alone
    const std::size_t before = threads();
    auto p = pipeline(wave, 3);
    for (int run = 0; run < 10; ++run) p.run(x);
    CHECK(threads() <= before + 2);
}

TEST_CASE("two branches have half of the intra-op threads each and a nested wave shares its branch's half") {
    const Intraop caller(8);
    auto p = pipeline(see() >> (see() | node("probe.pass") >> (see() | see()) >> see()) >> see(), 2);
    std::vector<Value> kept;
    const RunOptions options = keeping(p, kept);
    for (int run = 0; run < 20; ++run) {
        p.run(Value(), options);
        std::vector<std::int64_t> threads;
        for (const Value& seen : kept) threads.push_back(get(seen, "threads").as_int());
        REQUIRE(threads == std::vector<std::int64_t>{8, 4, 2, 2, 4, 8});
        REQUIRE(at::get_num_threads() == 8);
    }
}

TEST_CASE("the number of intra-op threads does not depend on the number of jobs") {
    const Intraop caller(6);
    const Wire wire = see() | see() | node("probe.pass") >> (see() | see());
    const auto numbers = [&](std::size_t jobs) {
        std::vector<std::int64_t> all;
        auto p = pipeline(wire, jobs);
        for (const Value& seen : items(p.run(Value()))) all.push_back(get(seen, "threads").as_int());
        return all;
    };
    CHECK(numbers(1) == std::vector<std::int64_t>{2, 2, 1, 1});
    for (const std::size_t jobs : {2U, 3U, 8U}) CHECK(numbers(jobs) == numbers(1));
}

TEST_CASE("waves within branches one after the other have their share of the intra-op threads whoever runs them") {
    const Intraop caller(8);
    // Long enough for every thread to take part, in the waves within as well.
    const auto slow = [] {
        return doing([](const soma_ctx&, const Value&) {
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            return Value(at::get_num_threads());
        });
    };
    const auto waves = [&] { return slow() | node("probe.pass") >> (slow() | slow()); };
    auto p = pipeline(waves() >> waves(), 2);
    std::vector<Value> kept;
    const RunOptions options = keeping(p, kept);
    for (int run = 0; run < 100; ++run) {
        p.run(Value(), options);
        REQUIRE(Value::list(kept) == Value::list({4, 2, 2, 4, 2, 2}));
    }
}

TEST_CASE("no-grad reaches nodes on workers that helped deeper in the nesting before") {
    const auto seen = [](int us) {
        return doing([us](const soma_ctx&, const Value&) {
            const bool grad = at::GradMode::is_enabled();
            std::this_thread::sleep_for(std::chrono::microseconds(us));
            return Value(grad);
        });
    };
    // Three threads, each in a wave of its own. The one in the middle is done first, so it helps the innermost.
    const auto deep = [&] {
        const Wire innermost = meet("deep", 3) >> seen(300) | seen(0);
        return meet("deep", 3) >> seen(300) | seen(0) >> (meet("deep", 3) | node("probe.pass") >> innermost);
    };
    auto p = pipeline(deep() >> deep() >> deep(), 3);
    std::vector<Value> kept;
    const RunOptions options = keeping(p, kept);
    for (int run = 0; run < 60; ++run) {
        const bool grad = run % 2 == 0;
        const at::AutoGradMode mode(grad);
        p.run(Value(), options);
        REQUIRE(Value::list(kept) == Value::list(std::vector<Value>(12, Value(grad))));
    }
}

TEST_CASE("a node that sets the number of intra-op threads changes it for no other") {
    const Intraop caller(4);
    const auto greedy = [] {
        return doing([](const soma_ctx&, const Value& input) {
            at::set_num_threads(3);
            return input;
        });
    };
    auto p =
        pipeline(greedy() >> see() >> (greedy() >> see() | greedy() >> see()) >> greedy() >> node("probe.pass"), 2);
    for (int run = 0; run < 20; ++run) {
        for (const Value& seen : items(p.run(Value()))) REQUIRE(get(seen, "threads") == Value(2));
        REQUIRE(at::get_num_threads() == 4);
    }
    CHECK(on_new_thread([] { return at::get_num_threads(); }) == 4);
}

TEST_CASE("tensor results are bitwise the same whatever the number of jobs") {
    const Intraop caller(4);
    const Value x = from_tensor(at::rand({64, 64}));
    const char* text =
        R"(probe.matmul >> (probe.matmul(times=3) | probe.matmul(times=2) >> (probe.matmul | probe.matmul(times=4)) >>
                          probe.sum | probe.pass) >> probe.sum)";
    const at::Tensor expected = to_tensor(pipeline(text, 1).run(x));
    for (const std::size_t jobs : {2U, 4U, 8U}) {
        auto p = pipeline(text, jobs);
        for (int run = 0; run < 20; ++run) REQUIRE(at::equal(to_tensor(p.run(x)), expected));
    }
}

TEST_CASE("with a seed random branches give the same on every run and any number of jobs") {
    const char* text = R"(probe.random.named("a") | probe.random.named("b") | probe.pass >> (probe.random.named("c") |
                          probe.random.named("d")))";
    RunOptions options;
    options.seed = 11;
    auto alone = pipeline(text, 1);
    const std::vector<at::Tensor> expected = to_tensors(alone.run(Value(), options));
    REQUIRE(expected.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(at::equal(expected[i], expected[j]));
    }
    for (const std::size_t jobs : {1U, 2U, 4U}) {
        auto p = pipeline(text, jobs);
        for (int run = 0; run < 30; ++run) {
            const auto drawn = to_tensors(p.run(Value(), options));
            for (std::size_t i = 0; i < 4; ++i) REQUIRE(at::equal(drawn[i], expected[i]));
        }
    }
    options.seed = 12;
    CHECK_FALSE(at::equal(to_tensors(alone.run(Value(), options))[0], expected[0]));
    CHECK_FALSE(at::equal(to_tensors(alone.run(Value()))[0], to_tensors(alone.run(Value()))[0]));
}

TEST_CASE("runs that fail under libtorch leave as many threads as two of them") {
    const Value x = from_tensor(at::rand({8, 8}));
    const std::size_t before = threads();
    {
        auto p = pipeline(node("probe.matmul") | node("probe.fail") | node("probe.matmul"), 3);
        for (int run = 0; run < 2; ++run) CHECK_THROWS_AS(p.run(x), NodeError);
        const std::size_t after_two = threads();
        for (int run = 2; run < 100; ++run) CHECK_THROWS_AS(p.run(x), NodeError);
        CHECK(threads_become(after_two));
    }
    CHECK(threads() <= before + 3); // libtorch may keep threads of its own, never ours
}

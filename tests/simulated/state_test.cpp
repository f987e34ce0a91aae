// SPDX-License-Identifier: Apache-2.0
//
// libtorch's state of a thread where there are devices: the current device and streams, autocast, inference mode; and
// what crosses threads, pipelines and devices at once.
#include <atomic>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/torch.h"
#include "support/catch.h"
#include "support/simulated.h"

using namespace soma;
using namespace soma::test;

namespace {

c10::Device cuda(int index) { return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)}; }
c10::impl::VirtualGuardImpl guard() { return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA); }

Value numbers(std::initializer_list<float> data) { return from_tensor(at::tensor(at::ArrayRef<float>(data))); }
std::string place(const Value& value) { return to_tensor(value).device().str(); }

void set_autocast(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(at::kCUDA, on);
#else
    at::autocast::set_enabled(on);
#endif
    if (!on) at::autocast::clear_cache();
}

/// The thread's current device, and its current stream of each.
Value devices() {
    return Value::list({static_cast<std::int64_t>(guard().getDevice().index()),
                        static_cast<std::int64_t>(guard().getStream(cuda(0)).id()),
                        static_cast<std::int64_t>(guard().getStream(cuda(1)).id())});
}

Wire see() {
    return doing([](const soma_ctx& ctx, const Value&) {
        return Value::dict({{"told", ctx.device == nullptr ? Value() : Value(ctx.device)}, {"devices", devices()}});
    });
}

Wire meet(std::string_view key, int parties) { return node("probe.barrier", {{"key", key}, {"parties", parties}}); }

/// Looks from four branches, in two waves, on as many threads.
Wire everywhere(std::string_view key) {
    return meet(key, 4) >> see() | meet(key, 4) >> see().on("cuda:1") |
           node("probe.pass") >> (meet(key, 4) >> see().on("cuda:0") | node("probe.pass") >> meet(key, 4) >> see());
}

} // namespace

TEST_CASE("a node that is not placed finds the caller's device and streams on every branch (simulated)") {
    two_gpus();
    auto p = pipeline(everywhere("caller's"), 4);
    const auto check = [&] {
        const std::int64_t device = devices().at(0).as_int();
        const Value streams[] = {devices().at(1), devices().at(2)};
        for (int run = 0; run < 20; ++run) {
            for (const Value& seen : items(p.run(1))) {
                const Value& told = get(seen, "told");
                const Value here = told.is_none() ? Value(device) : Value(told == Value("cuda:1") ? 1 : 0);
                REQUIRE(get(seen, "devices") == Value::list({here, streams[0], streams[1]}));
            }
        }
    };
    const Value before = devices();
    check();
    {
        const c10::DeviceGuard on1(cuda(1));
        check();
        const c10::StreamGuard aside(guard().getStreamFromGlobalPool(cuda(1)));
        CHECK_FALSE(devices().at(2) == before.at(2));
        check();
        const c10::StreamGuard back(guard().getStreamFromGlobalPool(cuda(0)));
        check();
    }
    CHECK(devices() == before);
    check(); // and nothing of it stays with the workers
}

TEST_CASE("the stream that a node makes current is restored after it on whatever device (simulated)") {
    two_gpus();
    need_linked();
    const auto change = [](const char* what, bool fail = false) {
        return node("linked.change", {{"what", what}, {"fail", fail}});
    };
    const Value before = devices();
    for (const char* what : {"stream", "device"}) {
        INFO(what);
        for (const char* device : {"cuda:0", "cuda:1", "cpu", ""}) {
            INFO(device);
            const auto placed = [&](Wire wire) { return *device == '\0' ? wire : wire.on(device); };
            auto p = pipeline(placed(change(what)) >> see().named("then") >>
                                  (meet("changed", 2) >> placed(change(what)) >> see() |
                                   meet("changed", 2) >> placed(change(what)) >> see()),
                              2);
            auto failing = pipeline(placed(change(what, true)) | node("probe.pass"), 2);
            std::vector<Value> kept;
            RunOptions options;
            options.keep = {"then"};
            options.kept = &kept;
            for (int run = 0; run < 10; ++run) {
                for (const Value& seen : items(p.run(1, options))) REQUIRE(get(seen, "devices") == before);
                REQUIRE(get(kept.at(0), "devices") == before);
                REQUIRE_THROWS_AS(failing.run(1), NodeError);
                REQUIRE(devices() == before);
            }
        }
    }
}

TEST_CASE("autocast of a device holds on every branch and in a pipeline inside a node (simulated)") {
    two_gpus();
    const std::string wire = R"(probe.matmul.on("cuda:1") | probe.matmul.on("cuda:0"))";
    auto p = pipeline((node("probe.matmul").on("cuda:0") | node("probe.matmul").on("cuda:1")) |
                          node("inner.run", {{"wire", wire}, {"jobs", 2}}),
                      3);
    const auto dtypes_are = [&](at::ScalarType expected) {
        for (int run = 0; run < 10; ++run) {
            const auto products = to_tensors(p.run(from_tensor(at::rand({4, 4}))));
            REQUIRE(products.size() == 4);
            for (const at::Tensor& product : products) REQUIRE(product.scalar_type() == expected);
        }
    };
    dtypes_are(at::kFloat);
    set_autocast(true);
    dtypes_are(at::kHalf);
    set_autocast(false);
    dtypes_are(at::kFloat);
}

TEST_CASE("inference mode and no-grad hold on every branch and every device (simulated)") {
    two_gpus();
    auto p = pipeline((node("probe.scale").on("cuda:0") | node("probe.scale").on("cuda:1") | node("probe.scale")) >>
                          (node("probe.sum").on("cuda:1") | node("probe.pass")),
                      3);
    const auto all = [&] { return to_tensors(p.run(numbers({1, 2, 3, 4}))); };
    for (const at::Tensor& tensor : all()) CHECK(tensor.requires_grad());
    for (int run = 0; run < 10; ++run) {
        {
            const at::NoGradGuard no_grad;
            for (const at::Tensor& tensor : all()) REQUIRE_FALSE(tensor.requires_grad());
        }
        {
            const c10::InferenceMode inference;
            for (const at::Tensor& tensor : all()) REQUIRE(tensor.is_inference());
        }
        for (const at::Tensor& tensor : all()) REQUIRE(tensor.requires_grad());
    }
}

TEST_CASE("pipelines inside nodes three deep run on both devices with one worker (simulated)") {
    two_gpus();
    const auto around = [](const std::string& wire, int jobs) {
        return R"((probe.obey.on("cuda:0") | inner.run(wire=)" + to_json(Value(wire)) +
               ", jobs=" + std::to_string(jobs) + R"() | probe.obey.on("cuda:1")) >> probe.sum.on("cuda:1"))";
    };
    for (const int jobs : {1, 2}) { // one job: the caller alone; two: one worker
        std::string wire = R"((probe.scale.on("cuda:0") | probe.scale.on("cuda:1")) >> probe.sum.on("cuda:0"))";
        for (int depth = 0; depth < 3; ++depth) wire = around(wire, jobs);
        auto p = pipeline(wire, static_cast<std::size_t>(jobs));
        for (int run = 0; run < 20; ++run) {
            const at::Tensor x = at::ones({4}).requires_grad_(true);
            const at::Tensor out = to_tensor(p.run(from_tensor(x)));
            REQUIRE(out.device().str() == "cuda:1");
            REQUIRE(at::allclose(out.detach().cpu(), at::full({4}, 7.0F, at::kFloat)));
            out.sum().backward();
            REQUIRE(at::allclose(x.grad(), at::full({4}, 7.0F, at::kFloat)));
        }
    }
}

TEST_CASE("random nodes inside pipelines inside nodes give the same with a seed (simulated)") {
    two_gpus();
    const std::string wire = R"(probe.random.named("a").on("cuda:0") | probe.random.named("b").on("cuda:1"))";
    const auto inner = [&] { return node("inner.run", {{"wire", wire}, {"jobs", 2}}); };
    RunOptions options;
    options.seed = 3;
    auto alone = pipeline(inner() | inner(), 1);
    const auto expected = to_tensors(alone.run(Value(), options));
    REQUIRE(expected.size() == 4);
    CHECK_FALSE(at::equal(expected[0].cpu(), expected[2].cpu()));
    auto p = pipeline(inner() | inner(), 2);
    for (int run = 0; run < 10; ++run) {
        const auto drawn = to_tensors(p.run(Value(), options));
        for (std::size_t i = 0; i < 4; ++i) REQUIRE(at::equal(drawn[i].cpu(), expected[i].cpu()));
    }
}

TEST_CASE("memory of a device is given back when its node moves away and after failures (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.scale", {{"size", 1024}}).named("s").on("cuda:0"));
    const Value x = from_tensor(at::ones({1024}));
    p.run(x);
    const std::uint64_t there = simulated_memory(0).bytes;
    CHECK(there >= 4096);
    p.place("s", "cuda:1");
    const std::uint64_t before_move = simulated_memory(1).bytes;
    p.run(x);
    CHECK(simulated_memory(0).bytes == there - 4096);
    CHECK(simulated_memory(1).bytes == before_move + 4096);

    auto failing = pipeline(node("probe.obey").on("cuda:1") >> (node("probe.pass") | node("probe.fail")), 2);
    const std::uint64_t after_move = simulated_memory(1).bytes;
    for (int run = 0; run < 20; ++run) CHECK_THROWS_AS(failing.run(x), NodeError);
    CHECK(simulated_memory(1).bytes == after_move);
}

TEST_CASE("every kind of tensor hops to a device and back as it was or is refused by name (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.obey").named("there").on("cuda:1") >>
                          (node("probe.pass") | node("probe.pass").on("cuda:1")) >> node("probe.obey").on("cpu"),
                      2);
    const at::Tensor dense = at::eye(3);
    const std::vector<std::pair<const char*, at::Tensor>> tensors{
        {"scalar", at::scalar_tensor(2.5)},
        {"zero-size", at::empty({0, 4})},
        {"view", at::arange(12).reshape({3, 4}).t()},
        {"conjugate", at::arange(3).to(at::kComplexFloat).conj()},
        {"complex", at::arange(3).to(at::kComplexDouble)},
        {"bool", dense > 0},
        {"half", dense.to(at::kHalf)},
        {"bfloat16", dense.to(at::kBFloat16)},
        {"sparse", dense.to_sparse()},
        {"compressed sparse rows", dense.to_sparse_csr()},
        {"compressed sparse columns", dense.to_sparse_csc()},
        {"quantised", at::quantize_per_tensor(at::rand({2, 3}), 0.1, 10, at::kQUInt8)},
    };
    for (const auto& [name, tensor] : tensors) {
        INFO(name);
        const bool uncopied = TORCH_VERSION_MAJOR == 1 && tensor.layout() == at::kSparseCsc;
        const bool held = !tensor.is_quantized() && !uncopied;
        std::string said = "no error";
        try {
            const auto both = to_tensors(p.run(Value::list({1, from_tensor(tensor)})));
            REQUIRE(both.size() == 2);
            for (const at::Tensor& back : both) {
                CHECK(back.is_cpu());
                CHECK(back.layout() == tensor.layout());
                CHECK(back.scalar_type() == tensor.scalar_type());
                CHECK(at::equal(back.to_dense(), tensor.to_dense()));
            }
        } catch (const NodeError& error) {
            said = error.what();
        }
        INFO(said);
        CHECK((said == "no error") == held);
        if (!held) {
            CHECK(said.starts_with("node `there` failed: "));
            CHECK(said.find(uncopied
                                ? "a tensor of layout `sparse_csc` cannot move to `cuda:1`: libtorch 1.13 copies no "
                                  "compressed sparse layout but `sparse_csr`; convert it to that one or to a dense "
                                  "tensor first"
                                : "simulated cuda devices hold dense and sparse tensors only") != std::string::npos);
        }
    }
    CHECK(to_json(p.run(Value::list({from_tensor(at::Tensor()), Value::list({}), Value::dict({})}))) ==
          "[[null, [], {}], [null, [], {}]]");
}

TEST_CASE("a sparse tensor that is elsewhere is found by the postcondition (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.obey").on("cuda:0") >> node("probe.pass").named("encoder").on("cuda:1"));
    CHECK(error_of<NodeError>([&] {
              p.run(Value::list({1, Value::dict({{"mask", from_tensor(at::eye(3).to_sparse())}})}));
          }) == "node `encoder` failed: it declared `cuda:1` but returned a value on `cuda:0` (at `[1].mask`)");
}

TEST_CASE("memory of a device is not lent as the cpu's and the refusal says where it is (simulated)") {
    two_gpus();
    auto p =
        pipeline(node("probe.obey").on("cuda:1") >> node("probe.inplace", {{"through", "dlpack"}}).named("writer"));
    CHECK(error_of<NodeError>([&] {
              p.run(numbers({1, 2}));
          }) ==
          "node `writer` failed: its memory is on `cuda:1` and can only be read on `cpu`: move it there first (its "
          "ctx.device was not set; plugin `probe`)");
}

TEST_CASE("a plugin that writes through soma.torch to what another device reads is found out (simulated)") {
    two_gpus();
    need_linked();
    auto p = pipeline(node("probe.obey").on("cuda:0") >>
                          (node("linked.write").named("a").on("cuda:0") | node("probe.obey").named("b").on("cuda:1")),
                      2);
    for (int run = 0; run < 10; ++run) {
        REQUIRE(error_of<NodeError>([&] {
                    p.run(numbers({1, 2}));
                }) == "one of `a`, `b` modified in place the value they share");
    }
}

TEST_CASE("many items go through two devices in their order (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.scale", {{"start", 2.0}}).on("cuda:0") >>
                          node("probe.scale", {{"start", 3.0}}).on("cuda:1") >> node("probe.obey").on("cpu"),
                      2);
    const at::NoGradGuard no_grad;
    int next = 0;
    int done = 0;
    ManyOptions options;
    options.in_flight = 3;
    p.run_many(
        [&]() -> std::optional<Value> {
            return next < 40 ? std::optional<Value>(from_tensor(at::full({4}, next++, at::kFloat))) : std::nullopt;
        },
        [&](ItemResult item) {
            REQUIRE_FALSE(item.error);
            REQUIRE(place(item.result) == "cpu");
            REQUIRE(at::equal(to_tensor(item.result), at::full({4}, 6 * done++, at::kFloat)));
        },
        options);
    CHECK(done == 40);
}

// SPDX-License-Identifier: Apache-2.0
//
// Placing, obeying, hopping and training on two GPUs that are simulated.
#include <atomic>
#include <set>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/optim/sgd.h>

#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/torch.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/simulated.h"

using namespace soma;
using namespace soma::test;
using Devices = std::map<std::string, std::string>;

namespace {

Value numbers(std::initializer_list<float> data) { return from_tensor(at::tensor(at::ArrayRef<float>(data))); }

std::string place(const at::Tensor& tensor) { return tensor.device().str(); }
std::string place(const Value& value) { return place(to_tensor(value)); }

bool close(const at::Tensor& a, const at::Tensor& b) { return at::allclose(a.detach().cpu(), b.detach().cpu()); }

std::vector<at::Tensor> parameters(const Pipeline& p) {
    std::vector<at::Tensor> all;
    for (const State& state : p.parameters()) all.push_back(to_tensor(state.value));
    return all;
}

at::Tensor parameter(const Pipeline& p, std::string_view name) {
    for (const State& state : p.parameters()) {
        if (state.name == name) return to_tensor(state.value);
    }
    FAIL("no parameter " << name);
    return {};
}

std::int64_t current_device() { return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getDevice().index(); }

c10::Stream current_stream() {
    const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
    return guard.getStream(guard.getDevice());
}

/// Reports libtorch's current device, and the device of its current stream.
Wire see() {
    return doing([](const soma_ctx& ctx, const Value&) {
        return Value::dict({{"told", ctx.device == nullptr ? Value() : Value(ctx.device)},
                            {"device", current_device()},
                            {"stream of", static_cast<std::int64_t>(current_stream().device_index())}});
    });
}

/// Losses of a few steps of training two layers, placed as told.
std::vector<float> losses(const std::string& first, const std::string& second, std::size_t jobs = 1) {
    auto p = pipeline(node("probe.scale", {{"start", 1.5}}).named("first") >>
                          (node("probe.scale").named("second") | node("probe.pass").named("beside")) >>
                          node("probe.sum").named("sum"),
                      jobs);
    if (!first.empty()) p.place("first", first);
    if (!second.empty()) {
        p.place("second", second);
        p.place("sum", second);
    }
    p.train();
    torch::optim::SGD optimiser(parameters(p), torch::optim::SGDOptions(0.1));
    const at::Tensor target = at::tensor({4.0F, -1.0F, 2.0F, 3.0F});
    std::vector<float> all;
    for (int step = 0; step < 30; ++step) {
        optimiser.zero_grad();
        const at::Tensor out = to_tensor(p.run(numbers({1, 2, -1, 0.5})));
        const at::Tensor loss = at::mse_loss(out, target.to(out.device()));
        loss.backward();
        if (step == 0) {
            for (const at::Tensor& leaf : parameters(p)) CHECK(place(leaf.grad()) == place(leaf));
        }
        optimiser.step();
        all.push_back(loss.item<float>());
    }
    if (!first.empty()) CHECK(place(parameter(p, "first.weight")) == first);
    if (!second.empty()) CHECK(place(parameter(p, "second.weight")) == second);
    return all;
}

} // namespace

TEST_CASE("branches run on cuda 0 and cuda 1 (simulated)") {
    two_gpus();
    for (const std::size_t jobs : {1U, 2U}) {
        auto p =
            pipeline(node("probe.scale").on("cuda:0") | node("probe.scale").on("cuda:1") | node("probe.scale"), jobs);
        for (int run = 0; run < 20; ++run) {
            const Value result = p.run(numbers({1, 2, 3, 4}));
            REQUIRE(place(result.at(0)) == "cuda:0");
            REQUIRE(place(result.at(1)) == "cuda:1");
            REQUIRE(place(result.at(2)) == "cpu");
            for (std::size_t i = 0; i < 3; ++i) {
                REQUIRE(close(to_tensor(result.at(i)), at::tensor({0.5F, 1.0F, 1.5F, 2.0F})));
            }
        }
        CHECK(place(parameter(p, "scale.weight")) == "cuda:0");
        CHECK(place(parameter(p, "scale_2.weight")) == "cuda:1");
        CHECK(place(parameter(p, "scale_3.weight")) == "cpu");
    }
}

TEST_CASE("the graph of the README runs on two devices and the table shows both (simulated)") {
    two_gpus();
    Catalog catalog;
    catalog.load_directory(shipped_plugins());
    const Wire wire = node("text.tokenize") >>
                      (node("nn.encoder").on("cuda:0") | node("nn.bag").named("other").on("cuda:1")) >>
                      node("flow.join");
    auto p = somatize(wire, catalog);
    CHECK(p.devices() == Devices{{"encoder", "cuda:0"}, {"other", "cuda:1"}});
    std::vector<NodeReport> report;
    RunOptions options;
    options.report = &report;
    const Value y = p.run("some text", options);
    CHECK(place(y.at(0)) == "cuda:0");
    CHECK(place(y.at(1)) == "cuda:1");
    REQUIRE(report.size() == 4);
    CHECK((report[1].device == Device(DeviceKind::cuda, 0)));
    CHECK(report[1].result.ends_with(" on cuda:0"));
    CHECK(report[2].result.ends_with(" on cuda:1"));

    p.place("encoder", "cpu");
    p.place("other", "cpu");
    const Value on_cpu = p.run("some text");
    CHECK(place(on_cpu.at(0)) == "cpu");
    CHECK(close(to_tensor(on_cpu.at(0)), to_tensor(y.at(0))));
    CHECK(close(to_tensor(on_cpu.at(1)), to_tensor(y.at(1))));
}

TEST_CASE("cuda 0 and cpu in one graph with gradients across every hop (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.scale", {{"start", 2.0}}).named("a").on("cuda:0") >>
                      node("probe.scale", {{"start", 3.0}}).named("b").on("cpu") >>
                      node("probe.scale", {{"start", 5.0}}).named("c").on("cuda:1") >>
                      node("probe.scale", {{"start", 7.0}}).named("d").on("cuda:0"));
    const at::Tensor x = at::tensor({1.0F, 2.0F, -1.0F, 0.5F}).requires_grad_(true);
    const at::Tensor out = to_tensor(p.run(from_tensor(x)));
    CHECK(place(out) == "cuda:0");
    CHECK(close(out, x * 210));
    out.sum().backward();
    const at::Tensor plain = x.detach();
    for (const auto& [name, device, factor] : {std::tuple{"a.weight", "cuda:0", 105.0},
                                               {"b.weight", "cpu", 70.0},
                                               {"c.weight", "cuda:1", 42.0},
                                               {"d.weight", "cuda:0", 30.0}}) {
        INFO(name);
        const at::Tensor leaf = parameter(p, name);
        CHECK(place(leaf) == device);
        CHECK(place(leaf.grad()) == device);
        CHECK(close(leaf.grad(), plain * factor));
    }
    CHECK(place(x.grad()) == "cpu");
    CHECK(close(x.grad(), at::full({4}, 210.0F, at::kFloat)));
}

TEST_CASE("two layers on two devices train to the losses of one device (simulated)") {
    two_gpus();
    const auto expected = losses("", "");
    CHECK(expected.back() < expected.front() / 10);
    const auto same = [&](const std::vector<float>& found) {
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]));
    };
    same(losses("cpu", "cpu"));
    same(losses("cuda:0", "cuda:0"));
    same(losses("cuda:0", "cuda:1"));
    same(losses("cuda:1", "cpu"));
    same(losses("cuda:0", "cuda:1", 2));
}

TEST_CASE("a wave over two devices trains and the gradient of each leaf is on the leaf's device (simulated)") {
    two_gpus();
    for (const std::size_t jobs : {1U, 2U}) {
        auto p = pipeline((node("probe.scale").named("a").on("cuda:0") | node("probe.scale").named("b").on("cuda:1") |
                           node("probe.scale").named("c").on("cpu")) >>
                              node("probe.sum").on("cuda:1"),
                          jobs);
        to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
        for (const auto& [name, device] :
             {std::pair{"a.weight", "cuda:0"}, {"b.weight", "cuda:1"}, {"c.weight", "cpu"}}) {
            const at::Tensor leaf = parameter(p, name);
            CHECK(place(leaf) == device);
            CHECK(place(leaf.grad()) == device);
            CHECK(close(leaf.grad(), at::tensor({1.0F, 2.0F, 3.0F, 4.0F})));
        }
    }
}

TEST_CASE("a node that ignores its device is caught (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.stubborn").named("encoder").on("cuda:0"));
    CHECK(error_of<NodeError>([&] {
              p.run(numbers({1, 2}));
          }) == "node `encoder` failed: it declared `cuda:0` but returned a value on `cpu`");
    auto nested = pipeline(node("probe.stubborn", {{"nested", true}}).named("encoder").on("cuda:1"));
    CHECK(error_of<NodeError>([&] {
              nested.run(numbers({1, 2}));
          }) == "node `encoder` failed: it declared `cuda:1` but returned a value on `cpu` (at `[1].mask`)");
    auto wrong = pipeline(node("probe.obey").on("cuda:1") >> node("probe.pass").named("encoder").on("cuda:0"));
    CHECK(error_of<NodeError>([&] {
              wrong.run(numbers({1, 2}));
          }) == "node `encoder` failed: it declared `cuda:0` but returned a value on `cuda:1`");
    auto claims = pipeline(node("probe.claim", {{"at", "cuda:1"}}).named("encoder").on("cuda:0"));
    CHECK(error_of<NodeError>([&] { claims.run(1); }) ==
          "node `encoder` failed: it declared `cuda:0` but returned a value on `cuda:1`");
}

TEST_CASE("an index made on the wrong device inside forward is told with node and ctx.device (simulated)") {
    two_gpus();
    const auto error_with = [](std::string_view at) {
        auto p = pipeline(node("probe.wrong_index", {{"at", at}}).named("picker").on("cuda:0"));
        return error_of<NodeError>([&] { p.run(numbers({1, 2, 3})); });
    };
    for (const char* at : {"cuda:1", "cpu"}) {
        const std::string error = error_with(at);
        INFO(error);
        CHECK(error.starts_with("node `picker` failed: "));
        CHECK(error.find("Expected all tensors to be on the same device") != std::string::npos);
        CHECK(error.ends_with(" (its ctx.device was `cuda:0`; plugin `probe`)"));
    }
    CHECK(error_with("cuda:0") == "no error");
}

TEST_CASE("an unplaced node between two placed ones stays where its input is (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.obey").on("cuda:1") >> node("probe.scale").named("middle") >>
                      node("probe.obey").named("last").on("cuda:0"));
    std::vector<Value> kept;
    RunOptions options;
    options.keep = {"middle"};
    options.kept = &kept;
    CHECK(place(p.run(numbers({1, 2, 3, 4}), options)) == "cuda:0");
    CHECK(place(kept.at(0)) == "cuda:1");
    CHECK(place(parameter(p, "middle.weight")) == "cuda:1");
    CHECK_FALSE(p.placement().of("middle").has_value());
    p.place("obey", "cpu");
    p.run(numbers({1, 2, 3, 4}), options);
    CHECK(place(kept.at(0)) == "cpu");
    CHECK(place(parameter(p, "middle.weight")) == "cpu");
}

TEST_CASE("moving a node and running again keeps its parameters valid in an optimiser (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.scale").named("s").on("cuda:0"));
    const at::Tensor held = parameters(p)[0];
    torch::optim::SGD optimiser(parameters(p), torch::optim::SGDOptions(0.5));
    float expected = 0.5F;
    for (const char* device : {"cuda:0", "cuda:1", "cpu", "cuda:1", "cuda:0"}) {
        INFO(device);
        p.place("s", device);
        optimiser.zero_grad();
        const at::Tensor out = to_tensor(p.run(numbers({1, 1, 1, 1})));
        CHECK(place(out) == device);
        CHECK(close(out, at::full({4}, expected, at::kFloat)));
        out.sum().backward();
        CHECK(place(held) == device);
        CHECK(place(held.grad()) == device);
        CHECK(parameters(p)[0].is_same(held));
        optimiser.step();
        expected -= 0.5F;
        CHECK(close(held, at::full({4}, expected, at::kFloat)));
    }
}

TEST_CASE("a gradient moves along with its parameter (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.scale").named("s").on("cuda:0"));
    to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    p.place("s", "cuda:1");
    {
        const at::NoGradGuard guard;
        p.run(numbers({1, 2, 3, 4}));
    }
    CHECK(place(parameters(p)[0].grad()) == "cuda:1");
    to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    CHECK(close(parameters(p)[0].grad(), at::tensor({2.0F, 4.0F, 6.0F, 8.0F})));
}

TEST_CASE("a graph that is all on cpu allocates nothing on any GPU (simulated)") {
    two_gpus();
    reset_simulated_memory();
    auto p =
        pipeline("probe.scale.on(\"cpu\") >> (probe.scale.on(\"cpu\") | probe.matmul) >> probe.sum.on(\"cpu\")", 2);
    for (int run = 0; run < 3; ++run) to_tensor(p.run(from_tensor(at::rand({4, 4})))).sum().backward();
    for (const unsigned device : {0U, 1U}) {
        CHECK(simulated_memory(device).allocations == 0);
        CHECK(simulated_memory(device).bytes == 0);
    }
}

TEST_CASE("what is placed on cuda 1 allocates nothing on cuda 0 (simulated)") {
    two_gpus();
    reset_simulated_memory();
    const std::uint64_t before = simulated_memory(0).bytes;
    auto p = pipeline(node("probe.scale").on("cuda:1") >> node("probe.sleep") >>
                      (node("probe.scale").on("cuda:1") | node("probe.scale").on("cuda:1")) >>
                      node("probe.sum").on("cuda:1"));
    for (int run = 0; run < 3; ++run) to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    CHECK(simulated_memory(0).allocations == 0);
    CHECK(simulated_memory(0).bytes == before);
    CHECK(simulated_memory(1).allocations > 0);
}

TEST_CASE("memory on the devices is the same after the second run and the twentieth (simulated)") {
    two_gpus();
    auto p = pipeline(
        (node("probe.scale").on("cuda:0") | node("probe.scale").on("cuda:1")) >> node("probe.sum").on("cuda:0"), 2);
    const auto bytes = [&] { return std::pair(simulated_memory(0).bytes, simulated_memory(1).bytes); };
    for (int run = 0; run < 2; ++run) p.run(numbers({1, 2, 3, 4}));
    const auto after_two = bytes();
    for (int run = 2; run < 20; ++run) p.run(numbers({1, 2, 3, 4}));
    CHECK(bytes() == after_two);
}

TEST_CASE("the current device and stream are the node's inside forward and restored after it (simulated)") {
    two_gpus();
    auto p = pipeline(see().on("cuda:1") | see().on("cuda:0") | see() | see().on("cpu"));
    const auto check = [&](std::int64_t caller) {
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        const c10::Device before = guard.exchangeDevice(c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(caller)));
        const c10::Stream stream = current_stream();
        const Value result = p.run(1);
        CHECK(get(result.at(0), "device") == Value(1));
        CHECK(get(result.at(0), "stream of") == Value(1));
        CHECK(get(result.at(1), "device") == Value(0));
        CHECK(get(result.at(1), "stream of") == Value(0));
        CHECK(get(result.at(2), "device") == Value(caller)); // `.on()` of another node is not "set the current device"
        CHECK(get(result.at(3), "device") == Value(caller));
        CHECK(current_device() == caller);
        CHECK(current_stream() == stream);
        guard.setDevice(before);
    };
    check(0);
    check(1);
}

TEST_CASE("the current device is the node's on every branch whatever thread it is on (simulated)") {
    two_gpus();
    const auto at = [](const char* device) { return see().on(device); };
    const auto meet = [] { return node("probe.barrier", {{"key", "device"}, {"parties", 4}}); };
    auto p = pipeline(meet() >> at("cuda:0") | meet() >> at("cuda:1") |
                          node("probe.pass") >> (meet() >> at("cuda:1") | meet() >> at("cuda:0")),
                      4);
    for (int run = 0; run < 50; ++run) {
        const Value result = p.run(1);
        REQUIRE(result.size() == 4);
        for (const Value& seen : items(result)) {
            REQUIRE(get(seen, "told") == Value("cuda:" + std::to_string(get(seen, "device").as_int())));
            REQUIRE(get(seen, "stream of") == get(seen, "device"));
        }
        REQUIRE(current_device() == 0);
    }
}

TEST_CASE("a node that sets the current device itself changes it for no other (simulated)") {
    two_gpus();
    const auto rude = [] {
        return doing([](const soma_ctx&, const Value& input) {
            c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).setDevice(c10::Device(c10::kCUDA, 1));
            return input;
        });
    };
    const auto failing = doing([](const soma_ctx&, const Value&) -> Value {
        c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).setDevice(c10::Device(c10::kCUDA, 1));
        throw std::runtime_error("left it like this");
    });
    auto p = pipeline(rude() >> see() >> rude().on("cpu") >> (rude() >> see() | rude() >> see()), 2);
    for (int run = 0; run < 20; ++run) {
        for (const Value& seen : items(p.run(1))) REQUIRE(get(seen, "device") == Value(0));
        REQUIRE(current_device() == 0);
    }
    auto q = pipeline(failing.on("cuda:0"));
    CHECK_THROWS_AS(q.run(1), NodeError);
    CHECK(current_device() == 0);
}

TEST_CASE("a node that sets the current stream of any device changes it for no other (simulated)") {
    two_gpus();
    const auto streams = [] {
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        return std::pair(guard.getStream(c10::Device(c10::kCUDA, 0)), guard.getStream(c10::Device(c10::kCUDA, 1)));
    };
    const auto set = [](std::int64_t device) {
        const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
        const c10::Device there(c10::kCUDA, static_cast<c10::DeviceIndex>(device));
        guard.exchangeStream(guard.getStreamFromGlobalPool(there));
    };
    const auto before = streams();
    const auto rude = [&](std::int64_t device) {
        return doing([set, device](const soma_ctx&, const Value& input) {
            set(device);
            return input;
        });
    };
    const auto look = [&] {
        return doing([streams, before](const soma_ctx&, const Value&) { return Value(streams() == before); });
    };
    auto p =
        pipeline(rude(1).on("cuda:0") >> look() >> rude(0).on("cuda:1") >> look().on("cuda:0") >> rude(1) >>
                     rude(0).on("cpu") >> look().on("cuda:1") >> (rude(1).on("cuda:0") >> look() | rude(0) >> look()),
                 2);
    for (int run = 0; run < 20; ++run) {
        for (const Value& seen : items(p.run(1))) REQUIRE(seen == Value(true));
        REQUIRE(streams() == before);
    }

    // One inside a node: what that node itself has set is there for its own, and goes with it.
    auto outer = pipeline(doing([&](const soma_ctx&, const Value& input) {
                              set(0);
                              const auto mine = streams();
                              auto inner = pipeline(rude(1).on("cuda:0") >> rude(0), 1);
                              inner.run(input);
                              return Value(streams() == mine && mine != before);
                          }).on("cuda:1") >>
                              node("probe.pass"),
                          1);
    CHECK(outer.run(1) == Value(true));
    CHECK(streams() == before);
    auto failing = pipeline(doing([&](const soma_ctx&, const Value&) -> Value {
                                set(1);
                                throw std::runtime_error("left it like this");
                            }).on("cuda:0"),
                            1);
    CHECK_THROWS_AS(failing.run(1), NodeError);
    CHECK(streams() == before);
}

TEST_CASE("results on two devices are the same whatever the number of jobs (simulated)") {
    two_gpus();
    const Value x = from_tensor(at::rand({16, 16}));
    const char* text =
        R"(probe.matmul.on("cuda:0") >> (probe.matmul(times=3).on("cuda:1") | probe.matmul.on("cuda:0") >>
                          (probe.matmul.on("cuda:1") | probe.matmul) >> probe.sum.on("cpu")) >> probe.sum.on("cuda:0"))";
    const at::Tensor expected = to_tensor(pipeline(text, 1).run(x)).cpu();
    for (const std::size_t jobs : {2U, 4U}) {
        auto p = pipeline(text, jobs);
        for (int run = 0; run < 10; ++run) REQUIRE(at::equal(to_tensor(p.run(x)).cpu(), expected));
    }
}

TEST_CASE("random nodes draw on their own device and the same on every run with a seed (simulated)") {
    two_gpus();
    RunOptions options;
    options.seed = 5;
    const Wire wire = node("probe.random").named("a").on("cuda:0") | node("probe.random").named("b").on("cuda:1");
    auto alone = pipeline(wire, 1);
    const auto expected = to_tensors(alone.run(Value(), options));
    CHECK(place(expected[0]) == "cuda:0");
    CHECK(place(expected[1]) == "cuda:1");
    CHECK_FALSE(at::equal(expected[0].cpu(), expected[1].cpu()));
    auto p = pipeline(wire, 2);
    for (int run = 0; run < 10; ++run) {
        const auto drawn = to_tensors(p.run(Value(), options));
        REQUIRE(at::equal(drawn[0].cpu(), expected[0].cpu()));
        REQUIRE(at::equal(drawn[1].cpu(), expected[1].cpu()));
    }
}

TEST_CASE("two nodes that share a parameter and are placed on two devices are refused before running (simulated)") {
    two_gpus();
    auto p =
        pipeline(node("probe.trace") >> node("probe.tied").named("encoder") >> node("probe.tied").named("decoder"));
    p.place("encoder", "cuda:0");
    p.place("decoder", "cuda:1");
    CHECK(error_of<PlacementError>([&] {
              p.run(numbers({1, 2, 3, 4}));
          }) ==
          "nodes `encoder` and `decoder` share a parameter (`weight` and `weight`) but are placed on two devices, "
          "`cuda:0` and `cuda:1`. Place them on the same device");
    CHECK(diary().empty());
    p.place("decoder", "cuda:0");
    CHECK(place(p.run(numbers({1, 2, 3, 4}))) == "cuda:0");
    const auto shared = parameters(p);
    CHECK(shared[0].is_same(shared[1]));
    CHECK(place(shared[0]) == "cuda:0");
    diary();
}

TEST_CASE("a device beyond those that are there is refused before anything runs (simulated)") {
    two_gpus();
    const std::vector<Device> there{Device(DeviceKind::cuda, 0), Device(DeviceKind::cuda, 1)};
    CHECK((visible_devices(DeviceKind::cuda) == there));
    auto p = pipeline(node("probe.trace").on("cuda:1") >> node("probe.pass").named("far").on("cuda:2"));
    const std::string error = error_of<PlacementError>([&] { p.run(1); });
    CHECK(error.starts_with("1 node is placed on a device that is not here: `far` on `cuda:2`. "));
    CHECK(error.find("2 ") != std::string::npos);
    CHECK(diary().empty());
}

TEST_CASE("placing in a loop over the devices that are there (simulated)") {
    two_gpus();
    Graph graph;
    for (int i = 0; i < 4; ++i) graph.add("probe.obey", {}, "n" + std::to_string(i));
    auto p = pipeline(std::move(graph), 2);
    const auto devices = visible_devices(DeviceKind::cuda);
    std::size_t next = 0;
    for (const std::string& id : p.nodes()) p.place(id, devices[next++ % devices.size()]);
    CHECK(p.devices() == Devices{{"n0", "cuda:0"}, {"n1", "cuda:1"}, {"n2", "cuda:0"}, {"n3", "cuda:1"}});
    const Value result = p.run(numbers({1}));
    for (std::size_t i = 0; i < 4; ++i) CHECK(place(result.at(i)) == "cuda:" + std::to_string(i % 2));
}

TEST_CASE("tensors of several devices are joined only where the join is placed (simulated)") {
    two_gpus();
    Catalog catalog;
    catalog.load_directory(shipped_plugins());
    catalog.load_file(test_plugins("probe") / "probe.soma.so");
    const auto graph = [&](const char* join) {
        return somatize(std::string(R"((probe.obey.on("cuda:0") | probe.obey.on("cuda:1")) >> )") + join, catalog);
    };
    auto unplaced = graph("flow.join(mode=\"concat\")");
    const std::string error = error_of<NodeError>([&] { unplaced.run(numbers({1, 2})); });
    CHECK(error.starts_with("node `join` failed: "));
    CHECK(error.find(".on(") != std::string::npos);
    auto placed = graph("flow.join(mode=\"concat\").on(\"cuda:1\")");
    const Value result = placed.run(numbers({1, 2}));
    CHECK(place(result) == "cuda:1");
    CHECK(close(to_tensor(result), at::tensor({1.0F, 2.0F, 1.0F, 2.0F})));
    auto list = graph("flow.join");
    const Value both = list.run(numbers({1, 2}));
    CHECK(place(both.at(0)) == "cuda:0");
    CHECK(place(both.at(1)) == "cuda:1");
}

TEST_CASE("a write to what a sibling on another device shares is refused by name (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.obey").on("cuda:0") >>
                          (node("probe.inplace").named("a") | node("probe.obey").named("b").on("cuda:1")),
                      2);
    CHECK(error_of<NodeError>([&] {
              p.run(numbers({1, 2}));
          }) == "node `a` failed: `aten::add_` would modify its input in place while `b` shares it");
}

TEST_CASE("nested values and every plain dtype hop to a device and back as they were (simulated)") {
    two_gpus();
    auto p = pipeline(node("probe.obey").named("there").on("cuda:1") >> node("probe.obey").named("back").on("cpu"));
    std::vector<Value> kept;
    RunOptions options;
    options.keep = {"there"};
    options.kept = &kept;
    for (const at::ScalarType type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                      at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
        INFO(at::toString(type));
        const at::Tensor tensor = at::arange(6).reshape({2, 3}).to(type);
        const Value nested = Value::dict({{"z", Value::list({from_tensor(tensor), "text", Value::list({})})},
                                          {"a", from_tensor(at::empty({0, 3}, type))}});
        const Value result = p.run(nested, options);
        CHECK(place(kept.at(0).at(0).at(0)) == "cuda:1");
        CHECK(place(kept.at(0).at(1)) == "cuda:1");
        CHECK(result.key(0) == "z");
        CHECK(result.at(0).at(1) == Value("text"));
        CHECK(result.at(0).at(2).kind() == Kind::list);
        const at::Tensor back = to_tensor(result.at(0).at(0));
        CHECK(place(back) == "cpu");
        CHECK(back.scalar_type() == type);
        CHECK(at::equal(back, tensor));
        CHECK(to_tensor(result.at(1)).sizes() == at::IntArrayRef({0, 3}));
    }
}

TEST_CASE("one pipeline on two devices run from several threads gives each its own result (simulated)") {
    two_gpus();
    auto p = pipeline(
        (node("probe.scale").on("cuda:0") | node("probe.scale").on("cuda:1")) >> node("probe.sum").on("cpu"), 2);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller) {
        callers.emplace_back([&, caller] {
            for (int run = 0; run < 50; ++run) {
                const at::Tensor x = at::full({4}, static_cast<float>(caller * 100 + run), at::kFloat);
                wrong += !close(to_tensor(p.run(from_tensor(x))), x);
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(wrong == 0);
}

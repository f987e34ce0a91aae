// SPDX-License-Identifier: Apache-2.0
//
// Tensors through graphs: gradients across waves and hops, state that nodes share, and every kind of tensor as a result.
#include <atomic>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/optim/sgd.h>

#include "conformance/helpers.h"
#include "soma/detail/engine.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/torch.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

std::vector<at::Tensor> parameters(const Pipeline& p) {
    std::vector<at::Tensor> all;
    for (const State& state : p.parameters()) all.push_back(to_tensor(state.value));
    return all;
}

/// A node of this program that writes to its input, where nobody watches.
Wire silent_write() {
    return doing([](const soma_ctx&, const Value& input) {
        to_tensors(input).front().detach().add_(1);
        return input;
    });
}

Value numbers(std::initializer_list<float> data) { return from_tensor(at::tensor(at::ArrayRef<float>(data))); }

/// `shared >> (a | b)`, where a is `writer` and b only reads.
std::string refusal(const Wire& writer, const Value& input, std::size_t jobs = 2) {
    auto p = pipeline(node("probe.obey") >> (Wire(writer).named("a") | node("probe.pass").named("b")), jobs);
    return error_of<NodeError>([&] { p.run(input); });
}

Wire in_place(std::string_view through, int item = 0) {
    return node("probe.inplace", {{"through", through}, {"item", item}});
}

/// One of every dtype and layout.
std::vector<std::pair<std::string, at::Tensor>> every_tensor() {
    std::vector<std::pair<std::string, at::Tensor>> all;
    for (const at::ScalarType type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                      at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
        all.emplace_back(at::toString(type), at::arange(6).reshape({2, 3}).to(type));
    }
    const at::Tensor dense = at::eye(3);
    all.emplace_back("scalar", at::scalar_tensor(2.5));
    all.emplace_back("zero-size", at::empty({0, 4}));
    all.emplace_back("view", at::arange(12).reshape({3, 4}).t());
    all.emplace_back("conjugate", at::arange(3).to(at::kComplexFloat).conj());
    all.emplace_back("sparse", dense.to_sparse());
    all.emplace_back("sparse_csr", dense.to_sparse_csr());
    all.emplace_back("quantised", at::quantize_per_tensor(at::rand({2, 3}), 0.1, 10, at::kQUInt8));
    return all;
}

} // namespace

TEST_CASE("gradients flow through a wave of plugin nodes and every hop") {
    for (const std::size_t jobs : {1U, 2U, 4U}) {
        auto p = pipeline(R"(probe.scale(start=2).named("first") >>
                             (probe.scale(start=3).named("a").on("cpu") |
                              probe.scale(start=5).named("b") >> (probe.scale(start=7).named("c") | probe.pass) >> probe.sum) >>
                             probe.sum.named("out").on("cpu"))",
                          jobs);
        // out = x·w0·(wa + wb·wc + wb), element by element
        const at::Tensor x = at::tensor({1.0F, 2.0F, -1.0F, 0.5F}).requires_grad_(true);
        const at::Tensor out = to_tensor(p.run(from_tensor(x)));
        REQUIRE(at::allclose(out, x * 2 * (3 + 35 + 5)));
        out.sum().backward();
        const auto grads = [&] {
            std::map<std::string, at::Tensor> all;
            for (const State& state : p.parameters()) all[state.name] = to_tensor(state.value).grad();
            return all;
        }();
        const at::Tensor plain = x.detach();
        CHECK(grads.size() == 4);
        CHECK(at::allclose(grads.at("first.weight"), plain * 43));
        CHECK(at::allclose(grads.at("a.weight"), plain * 2));
        CHECK(at::allclose(grads.at("b.weight"), plain * 2 * 8));
        CHECK(at::allclose(grads.at("c.weight"), plain * 2 * 5));
        CHECK(at::allclose(x.grad(), at::full({4}, 86.0F, at::kFloat)));
    }
}

TEST_CASE("gradients flow out of a pipeline inside a node") {
    const std::string inner = R"(probe.pass | probe.pass >> probe.pass)";
    auto p = pipeline("probe.scale >> inner.run(wire=" + to_json(Value(inner)) + ", jobs=2) >> probe.sum", 2);
    to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    CHECK(at::allclose(parameters(p)[0].grad(), at::tensor({2.0F, 4.0F, 6.0F, 8.0F})));
}

TEST_CASE("nothing is recorded under no-grad and the context says so") {
    auto p = pipeline(node("probe.scale") | node("probe.where"), 2);
    const at::NoGradGuard guard;
    const Value result = p.run(numbers({1, 2, 3, 4}));
    CHECK_FALSE(to_tensor(result.at(0)).requires_grad());
    CHECK(get(result.at(1), "grad") == Value(false));
}

TEST_CASE("a small training loop lowers its loss") {
    auto p = pipeline("probe.scale >> (probe.scale | probe.scale >> probe.scale) >> probe.sum", 2);
    p.train();
    torch::optim::SGD optimiser(parameters(p), torch::optim::SGDOptions(0.05));
    const at::Tensor target = at::tensor({4.0F, -1.0F, 2.0F, 3.0F});
    const auto step = [&] {
        optimiser.zero_grad();
        const at::Tensor loss = at::mse_loss(to_tensor(p.run(numbers({1, 1, 1, 1}))), target);
        loss.backward();
        optimiser.step();
        return loss.item<float>();
    };
    const float first = step();
    float last = first;
    for (int i = 0; i < 200; ++i) last = step();
    CHECK(last < first / 100);
}

TEST_CASE("training gives the same losses whatever the number of jobs") {
    const auto losses = [](std::size_t jobs) {
        auto p = pipeline("probe.scale >> (probe.scale(start=2) | probe.scale) >> probe.sum", jobs);
        torch::optim::SGD optimiser(parameters(p), torch::optim::SGDOptions(0.1));
        std::vector<float> all;
        for (int i = 0; i < 20; ++i) {
            optimiser.zero_grad();
            const at::Tensor loss = to_tensor(p.run(numbers({1, 2, -1, 0.5}))).square().mean();
            loss.backward();
            optimiser.step();
            all.push_back(loss.item<float>());
        }
        return all;
    };
    const auto expected = losses(1);
    CHECK(expected.front() > expected.back());
    CHECK(losses(2) == expected);
    CHECK(losses(4) == expected);
}

TEST_CASE("parameters keep their identity when a node visits meta and the optimiser goes on (meta)") {
    auto p = pipeline(node("probe.scale").named("s").on("cpu"));
    const auto before = parameters(p);
    torch::optim::SGD optimiser(before, torch::optim::SGDOptions(0.5));
    p.place("s", "meta");
    const at::Tensor there = to_tensor(p.run(numbers({1, 2, 3, 4})));
    CHECK(there.is_meta());
    CHECK(there.sizes() == at::IntArrayRef({4}));
    REQUIRE(parameters(p)[0].is_same(before[0]));
    CHECK_FALSE(before[0].is_meta());

    p.place("s", "cpu");
    to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    optimiser.step();
    CHECK(at::allclose(before[0].detach(), at::tensor({0.0F, -0.5F, -1.0F, -1.5F})));
    CHECK(at::allclose(to_tensor(p.run(numbers({1, 1, 1, 1}))).detach(), before[0].detach()));
}

TEST_CASE("moving a node from meta is refused by name (meta)") {
    auto p = pipeline(node("probe.scale").named("s").on("meta"));
    CHECK(to_tensor(p.run(numbers({1, 2, 3, 4}))).is_meta());
    p.place("s", "cpu");
    const std::string error = error_of<PlacementError>([&] { p.run(numbers({1, 2, 3, 4})); });
    CHECK(error.starts_with("node `s` cannot move from `meta` to `cpu`: "));
    p.place("s", "meta");
    CHECK(to_tensor(p.run(numbers({1, 2, 3, 4}))).is_meta());
}

TEST_CASE("a value on meta that a node on cpu needs is refused by name (meta)") {
    auto p = pipeline(node("probe.obey").on("meta") >> node("probe.obey").named("back").on("cpu"));
    const std::string error = error_of<NodeError>([&] { p.run(numbers({1})); });
    CHECK(error.starts_with("node `back` failed: "));
    CHECK(error.find("a tensor on `meta` holds no data that could move to `cpu`") != std::string::npos);
}

TEST_CASE("a node that ignores its device is caught (meta)") {
    auto p = pipeline(node("probe.stubborn").named("encoder").on("meta"));
    CHECK(error_of<NodeError>([&] {
              p.run(numbers({1, 2}));
          }) == "node `encoder` failed: it declared `meta` but returned a value on `cpu`");
}

TEST_CASE("the leaf that ignores its device is named (meta)") {
    auto p = pipeline(node("probe.stubborn", {{"nested", true}}).named("encoder").on("meta"));
    CHECK(error_of<NodeError>([&] {
              p.run(numbers({1, 2}));
          }) == "node `encoder` failed: it declared `meta` but returned a value on `cpu` (at `[1].mask`)");
}

TEST_CASE("a wave on cpu and meta gives each branch's shape where it was told to be (meta)") {
    auto p = pipeline(node("probe.scale").on("cpu") | node("probe.scale").on("meta"), 2);
    for (int run = 0; run < 20; ++run) {
        const Value result = p.run(numbers({1, 2, 3, 4}));
        REQUIRE(to_tensor(result.at(0)).is_cpu());
        REQUIRE(to_tensor(result.at(1)).is_meta());
        REQUIRE(to_tensor(result.at(1)).sizes() == to_tensor(result.at(0)).sizes());
    }
}

TEST_CASE("placing does not change what a graph of tensors gives") {
    const char* text = "probe.scale >> (probe.scale | probe.matmul) >> probe.sum";
    const Value x = from_tensor(at::rand({4, 4}));
    auto free = pipeline(text);
    auto placed = pipeline(text);
    for (const std::string& id : placed.nodes()) placed.place(id, "cpu");
    CHECK(at::equal(to_tensor(free.run(x)), to_tensor(placed.run(x))));
}

TEST_CASE("an in-place operator on a value that a sibling shares is refused by name") {
    const std::string add = "node `a` failed: `aten::add_` would modify its input in place while `b` shares it";
    for (const std::size_t jobs : {1U, 2U}) CHECK(refusal(in_place("dispatcher"), numbers({1, 2}), jobs) == add);
    CHECK(refusal(in_place("view"), numbers({1, 2})) ==
          "node `a` failed: `aten::mul_` would modify its input in place while `b` shares it");
    const std::string out = refusal(in_place("out"), numbers({1, 2}));
    CHECK(out == "node `a` failed: `aten::add.out` would modify its input in place while `b` shares it");
    // Shared within a list, too.
    CHECK(refusal(in_place("dispatcher"), Value::list({numbers({1, 2})})) == add);
}

TEST_CASE("a writable export of a value that a sibling shares is refused by name") {
    CHECK(refusal(in_place("dlpack"), numbers({1, 2})) ==
          "node `a` failed: a writable DLPack export would modify its input in place while `b` shares it");
}

TEST_CASE("a value that was modified behind the host's back names the candidates") {
    for (const std::size_t jobs : {1U, 2U}) {
        auto p = pipeline(node("probe.obey") >> (silent_write().named("a") | node("probe.pass").named("b")), jobs);
        CHECK(error_of<NodeError>([&] {
                  p.run(numbers({1, 2}));
              }) == "one of `a`, `b` modified in place the value they share");
        CHECK(error_of<NodeError>([&] {
                  p.run(Value::list({1, numbers({1, 2})}));
              }) == "one of `a`, `b` modified in place the value they share");
    }
}

TEST_CASE("a plugin that writes through soma.torch to what a sibling shares is found out") {
    need_linked();
    const std::string found = "one of `a`, `b` modified in place the value they share";
    for (const bool view : {false, true}) {
        for (const std::size_t jobs : {1U, 2U}) {
            CHECK(refusal(node("linked.write", {{"view", view}}), numbers({1, 2}), jobs) == found);
            const c10::InferenceMode guard;
            CHECK(refusal(node("linked.write", {{"view", view}}), numbers({1, 2}), jobs) == "no error"); // documented
        }
    }
    // What it alone reads is its own.
    auto p = pipeline(node("probe.obey") >> node("linked.write") >> node("linked.write", {{"view", true}}));
    CHECK(at::equal(to_tensor(p.run(numbers({1, 2}))), at::tensor({4.0F, 3.0F})));
}

TEST_CASE("the graph's own input is shared by the nodes that read it") {
    auto p = pipeline(in_place("dispatcher").named("a") | node("probe.pass").named("b"), 2);
    const at::Tensor x = at::ones({2});
    CHECK(error_of<NodeError>([&] { p.run(from_tensor(x)); }) ==
          "node `a` failed: `aten::add_` would modify its input in place while `b` shares it");
    CHECK(at::equal(x, at::ones({2})));
    auto q = pipeline(node("probe.pass").named("a") | silent_write().named("b") | node("probe.pass").named("c"), 2);
    CHECK(error_of<NodeError>([&] { q.run(from_tensor(x)); }) ==
          "one of `a`, `b`, `c` modified in place the value they share");
}

TEST_CASE("under inference mode an in-place operator is refused and a silent write is not seen") {
    const c10::InferenceMode guard;
    CHECK(refusal(in_place("dispatcher"), numbers({1, 2})) ==
          "node `a` failed: `aten::add_` would modify its input in place while `b` shares it");
    CHECK(refusal(in_place("dlpack"), numbers({1, 2})) ==
          "node `a` failed: a writable DLPack export would modify its input in place while `b` shares it");
    CHECK(refusal(silent_write(), numbers({1, 2})) == "no error"); // documented: nothing counts there
}

TEST_CASE("a node may write to what it alone reads") {
    auto chain = pipeline(node("probe.obey") >> in_place("dispatcher") >> in_place("dlpack"));
    CHECK(at::equal(to_tensor(chain.run(numbers({1, 1}))), at::tensor({3.0F, 2.0F})));
    // After the wave the value belongs to nobody else any more.
    auto after = pipeline((node("probe.obey") | node("probe.obey")) >> in_place("dispatcher"), 2);
    CHECK(at::equal(to_tensor(after.run(numbers({1, 1}))), at::tensor({2.0F, 2.0F})));
}

TEST_CASE("of a list only the items that others read are lent") {
    Graph graph;
    graph.add("probe.obey", {}, "own");
    graph.add("probe.obey", {}, "common");
    graph.connect("own", "common"); // keeps them apart
    graph.add("probe.matmul", {}, "fresh");
    graph.connect("own", "fresh");
    const auto with = [&](int item) {
        Graph whole = graph;
        whole.add("probe.inplace", Value::dict({{"item", item}}), "writer");
        whole.add("probe.pass", {}, "reader");
        whole.connect("fresh", "writer");
        whole.connect("common", "writer");
        whole.connect("common", "reader");
        return pipeline(std::move(whole));
    };
    const Value x = from_tensor(at::ones({2, 2}));
    CHECK(with(0).run(x).size() == 2);
    CHECK(error_of<NodeError>([&] { with(1).run(x); }) ==
          "node `writer` failed: `aten::add_` would modify its input in place while `reader` shares it");
}

TEST_CASE("what an outer node was lent stays lent in a pipeline that it runs") {
    const std::string inner = "probe.pass | probe.pass >> probe.inplace.named(\"deep\")";
    for (const int jobs : {1, 2}) {
        const Wire outer =
            node("inner.run", {{"wire", inner}, {"jobs", jobs}}).named("a") | node("probe.pass").named("b");
        auto p = pipeline(node("probe.obey") >> outer, 2);
        for (int run = 0; run < 50; ++run) {
            const std::string error = error_of<NodeError>([&] { p.run(numbers({1, 2})); });
            REQUIRE(
                error.starts_with("node `a` failed: node `deep` failed: `aten::add_` would modify its input in place "
                                  "while `"));
        }
    }
}

TEST_CASE("two nodes that share a parameter and are placed on two devices are refused before running (meta)") {
    auto p =
        pipeline(node("probe.trace") >> node("probe.tied").named("encoder") >> node("probe.tied").named("decoder"));
    p.place("encoder", "cpu");
    p.place("decoder", "meta");
    CHECK(
        error_of<PlacementError>([&] {
            p.run(numbers({1, 2, 3, 4}));
        }) ==
        "nodes `encoder` and `decoder` share a parameter (`weight` and `weight`) but are placed on two devices, `cpu` "
        "and `meta`. Place them on the same device");
    CHECK(diary().empty());
    p.place("decoder", "cpu");
    CHECK(at::allclose(to_tensor(p.run(numbers({1, 2, 3, 4}))), at::tensor({0.25F, 0.5F, 0.75F, 1.0F})));
    p.unplace("decoder"); // where it is told nothing it contradicts nothing
    CHECK_NOTHROW(p.run(numbers({1, 2, 3, 4})));
    diary();
}

TEST_CASE("every kind of tensor goes through a wave and a hop unchanged") {
    auto p = pipeline("probe.pass >> (probe.pass | probe.obey.on(\"cpu\") >> probe.pass) >> probe.pass", 2);
    for (const auto& [name, tensor] : every_tensor()) {
        INFO(name);
        const Value result = p.run(Value::list({from_tensor(tensor)}));
        for (const Value& one : items(result)) {
            const at::Tensor out = to_tensor(one.at(0));
            REQUIRE(out.is_same(tensor)); // it was there already: nothing was copied
        }
        CHECK_FALSE(summary(result.at(0).at(0)).empty());
    }
}

TEST_CASE("every kind of tensor can be read as JSON or is refused by name") {
    for (const auto& [name, tensor] : every_tensor()) {
        INFO(name);
        const Value json = parse_json(to_json(from_tensor(tensor)));
        CHECK(get(json, "device") == Value("cpu"));
        CHECK(get(json, "dtype").kind() == Kind::string);
        CHECK(get(json, "tensor").size() == (tensor.dim() == 0 ? 0U : static_cast<std::size_t>(tensor.size(0))));
    }
}

TEST_CASE("every kind of tensor hops to meta or is refused by name (meta)") {
    auto p = pipeline(node("probe.obey").named("hop").on("meta"));
    for (const auto& [name, tensor] : every_tensor()) {
        INFO(name);
        try {
            const at::Tensor out = to_tensor(p.run(from_tensor(tensor)));
            CHECK(out.is_meta());
            CHECK(out.sizes() == tensor.sizes());
            CHECK(out.scalar_type() == tensor.scalar_type());
        } catch (const NodeError& error) {
            const std::string text = error.what();
            CHECK(text.starts_with("node `hop` failed: "));
            // Only what libtorch has no form of on meta.
            CHECK((tensor.layout() != at::kStrided || tensor.is_quantized()));
        }
    }
}

TEST_CASE("an undefined tensor becomes none and an empty list stays one") {
    auto p = pipeline("probe.pass >> (probe.obey.on(\"cpu\") | probe.pass)", 2);
    const Value result = p.run(Value::list({from_tensor(at::Tensor()), Value::list({}), Value::dict({})}));
    for (const Value& one : items(result)) CHECK(to_json(one) == "[null, [], {}]");
}

TEST_CASE("nested values keep their kinds and their order through a hop (meta)") {
    const at::Tensor x = at::ones({2});
    const Value nested = Value::dict({{"z", Value::list({from_tensor(x), 1, "text", Value()})},
                                      {"a", Value::dict({{"mask", from_tensor(x)}, {"empty", Value::list({})}})},
                                      {"m", true}});
    auto p = pipeline("(probe.obey.on(\"cpu\") | probe.obey.on(\"meta\"))", 2);
    const Value result = p.run(nested);
    for (const Value& one : items(result)) {
        REQUIRE(one.size() == 3);
        CHECK(one.key(0) == "z");
        CHECK(one.key(1) == "a");
        CHECK(one.key(2) == "m");
        CHECK(one.at(0).size() == 4);
        CHECK(one.at(0).at(1) == Value(1));
        CHECK(one.at(0).at(2) == Value("text"));
        CHECK(one.at(0).at(3).is_none());
        CHECK(one.at(1).key(0) == "mask");
        CHECK(one.at(1).at(1).kind() == Kind::list);
        CHECK(one.at(2) == Value(true));
    }
    CHECK(to_tensor(result.at(0).at(0).at(0)).is_same(x));
    CHECK(to_tensor(result.at(1).at(0).at(0)).is_meta());
    CHECK(to_tensor(result.at(1).at(1).at(0)).is_meta());
}

TEST_CASE("a misplaced leaf of a hop is named by its path (meta)") {
    auto p = pipeline(node("probe.obey").on("cpu") >> node("probe.pass").named("encoder").on("meta"));
    const Value nested = Value::list({1, Value::dict({{"ids", 2}, {"mask", numbers({1})}})});
    CHECK(error_of<NodeError>([&] { p.run(nested); }) ==
          "node `encoder` failed: it declared `meta` but returned a value on `cpu` (at `[1].mask`)");
}

TEST_CASE("simulated devices asked for after a backward are a named error and all else works on (simulated)") {
    if (!visible_devices(DeviceKind::cuda).empty()) soma_skip("libtorch has CUDA devices here");
    auto p = pipeline("probe.scale");
    to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    for (int time = 0; time < 2; ++time) {
        CHECK(
            error_of<EngineError>([] { simulate_cuda(2); }) ==
            "cannot simulate 2 `cuda` devices: simulated devices were asked for too late: libtorch has run a backward, "
            "and autograd has no threads for them; ask before the first backward");
    }
    CHECK(simulated_cuda() == 0);
    CHECK(visible_devices(DeviceKind::cuda).empty());
    to_tensor(p.run(numbers({1, 2, 3, 4}))).sum().backward();
    CHECK(at::allclose(parameters(p)[0].grad(), at::tensor({2.0F, 4.0F, 6.0F, 8.0F})));
    p.place("scale", "cuda:0");
    CHECK(error_of<PlacementError>([&] {
              p.run(numbers({1, 2, 3, 4}));
          }).find("`scale` on `cuda:0`") != std::string::npos);
}

TEST_CASE("what libtorch says is told with the node and what it was told") {
    auto p = pipeline(node("probe.matmul").named("product").on("cpu"));
    const std::string error = error_of<NodeError>([&] { p.run(numbers({1, 2})); });
    CHECK(error.starts_with("node `product` failed: "));
    CHECK(error.find("self must be a matrix") != std::string::npos);
    CHECK(error.ends_with("(plugin `probe`)"));
    CHECK(error.find("Exception raised from") == std::string::npos); // no backtrace
}

TEST_CASE("tensors are released with their last reader and after failures") {
    const at::Tensor x = at::ones({2, 2});
    auto good = pipeline("probe.pass >> (probe.pass | probe.matmul) >> probe.sum", 2);
    auto bad = pipeline("probe.pass >> (probe.pass | probe.fail) >> probe.sum", 2);
    const auto before = x.use_count();
    for (int run = 0; run < 20; ++run) {
        good.run(from_tensor(x));
        CHECK_THROWS_AS(bad.run(from_tensor(x)), NodeError);
    }
    CHECK(x.use_count() == before);
}

TEST_CASE("one pipeline of tensors run from several threads gives each its own result") {
    auto p = pipeline("probe.scale >> (probe.scale | probe.scale >> probe.scale) >> probe.sum", 2);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&, caller] {
            for (int run = 0; run < 100; ++run) {
                const at::Tensor x = at::full({4}, caller * 100 + run);
                wrong += !at::allclose(to_tensor(p.run(from_tensor(x))), x * (0.25 + 0.125));
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(wrong == 0);
}

TEST_CASE("summaries in a report tell shape and place (meta)") {
    auto p = pipeline(node("probe.obey").on("cpu") >> node("probe.obey").on("meta"));
    std::vector<NodeReport> report;
    RunOptions options;
    options.report = &report;
    p.run(from_tensor(at::ones({3, 2})), options);
    CHECK(report.at(0).result == "tensor float32[3, 2] on cpu");
    CHECK(report.at(1).result == "tensor float32[3, 2] on meta");
}

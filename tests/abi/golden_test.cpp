// SPDX-License-Identifier: Apache-2.0
// The binaries of every release, as they were built then: they load, obey and compute in the host of today.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "soma/torch.h"

#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/pipeline.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/simulated.h"

using namespace soma;
using namespace soma::test;
namespace fs = std::filesystem;

namespace {

using Tensors = std::vector<at::Tensor>;

// What a node type computes, from its text. `golden.linear` and `golden.mlp` are called with their default configuration.
struct Expected {
    std::vector<std::string> parameters;
    std::function<at::Tensor(const at::Tensor& x, const Tensors& p)> result;
};

at::Tensor layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return x.matmul(weight.t()).add(bias);
}

const std::map<std::string, Expected>& expected() {
    static const std::map<std::string, Expected> all{
        {"golden.linear",
         {{"weight", "bias"}, [](const at::Tensor& x, const Tensors& p) { return layer(x, p[0], p[1]); }}},
        {"golden.mlp",
         {{"first.weight", "first.bias", "second.weight", "second.bias"},
          [](const at::Tensor& x, const Tensors& p) { return layer(layer(x, p[0], p[1]).tanh(), p[2], p[3]); }}},
    };
    return all;
}

// The folders of releases, of the host's major.
std::vector<fs::path> releases() {
#if !defined(__x86_64__)
    soma_skip("the golden binaries are for x86-64");
#endif
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(source_dir() / "tests" / "abi" / "golden")) {
        const std::string major = std::to_string(SOMA_ABI_MAJOR) + ".";
        if (entry.is_directory() && entry.path().filename().string().starts_with(major))
            folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    REQUIRE_FALSE(folders.empty());
    return folders;
}

// Calls `check` with every node type of every release in a pipeline of its own.
void for_each_node(const std::function<void(Pipeline&, const std::string& type)>& check) {
    for (const fs::path& folder : releases()) {
        Catalog catalog;
        catalog.load_directory(folder);
        CAPTURE(folder);
        CHECK(catalog.refusals().empty());
        REQUIRE_FALSE(catalog.types().empty());
        for (const std::string& type : catalog.types()) {
            CAPTURE(type);
            // A binary that nobody checks would be no test.
            REQUIRE(expected().contains(type));
            PipelineOptions options;
            options.seed = 7;
            Pipeline pipeline = somatize(type + ".named(\"node\")", catalog, options);
            check(pipeline, type);
        }
    }
}

at::Tensor input() {
    return to_tensor(tensors_from_json(parse_json(R"({"tensor": [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]})")));
}

Tensors parameters(const Pipeline& pipeline) {
    Tensors all;
    for (const State& state : pipeline.parameters()) all.push_back(to_tensor(state.value));
    return all;
}

at::Tensor run(Pipeline& pipeline, const at::Tensor& x) { return to_tensor(pipeline.run(from_tensor(x))); }

std::vector<double> numbers(const at::Tensor& tensor) {
    const at::Tensor flat = tensor.detach().cpu().contiguous().view({-1});
    std::vector<double> all;
    for (std::int64_t i = 0; i < flat.numel(); ++i) all.push_back(flat[i].item<double>());
    return all;
}

void check_equal(const at::Tensor& a, const at::Tensor& b) {
    REQUIRE(a.sizes() == b.sizes());
    const auto left = numbers(a);
    const auto right = numbers(b);
    for (std::size_t i = 0; i < left.size(); ++i) CHECK(left[i] == Approx(right[i]).epsilon(1e-4).margin(1e-5));
}

void check_result(Pipeline& pipeline, const std::string& type) {
    Tensors local;
    for (const at::Tensor& parameter : parameters(pipeline)) local.push_back(parameter.detach().cpu());
    check_equal(run(pipeline, input()), expected().at(type).result(input(), local));
}

// Of the input and of every parameter, each element of each, by central differences on the cpu.
void check_gradients(Pipeline& pipeline) {
    at::Tensor x = input().requires_grad_(true);
    const auto loss = [&] { return run(pipeline, x).pow(2).sum(); };
    Tensors leaves = parameters(pipeline);
    for (at::Tensor& leaf : leaves) leaf.mutable_grad() = at::Tensor();
    loss().backward();
    leaves.push_back(x);
    for (at::Tensor& leaf : leaves) {
        REQUIRE(leaf.grad().defined());
        CHECK(leaf.grad().device() == leaf.device());
        const auto given = numbers(leaf.grad());
        at::Tensor flat = leaf.detach().view({-1});
        for (std::int64_t i = 0; i < flat.numel(); ++i) {
            const double before = flat[i].item<double>();
            const double eps = 1e-2;
            flat[i].fill_(before + eps);
            const double above = loss().item<double>();
            flat[i].fill_(before - eps);
            const double below = loss().item<double>();
            flat[i].fill_(before);
            CHECK(given[static_cast<std::size_t>(i)] == Approx((above - below) / (2 * eps)).epsilon(0.02).margin(0.02));
        }
    }
}

} // namespace

TEST_CASE("a golden binary says which version it was built with and needs no more") {
    for (const fs::path& folder : releases()) {
        Catalog catalog;
        catalog.load_directory(folder);
        CAPTURE(folder);
        CHECK(catalog.refusals().empty());
        CHECK(catalog.plugins().size() >= 2);
        for (const auto& plugin : catalog.plugins()) {
            CAPTURE(plugin->name);
            CHECK(std::to_string(plugin->abi_major) + "." + std::to_string(plugin->built_minor) == folder.filename());
            CHECK(plugin->min_host_minor == 0);
            CHECK_FALSE(plugin->links_tensor_library);
        }
    }
}

TEST_CASE("a golden binary computes what its text says") {
    for_each_node([](Pipeline& pipeline, const std::string& type) {
        std::vector<std::string> names;
        for (const State& state : pipeline.parameters()) names.push_back(state.name.substr(state.name.find('.') + 1));
        CHECK(names == expected().at(type).parameters);
        check_result(pipeline, type);
        pipeline.place("node", "cpu");
        check_result(pipeline, type);
    });
}

TEST_CASE("the gradients of a golden binary are the numerical ones") {
    for_each_node([](Pipeline& pipeline, const std::string&) { check_gradients(pipeline); });
}

TEST_CASE("a golden binary works without data on meta and with its own weights afterwards (meta)") {
    for_each_node([](Pipeline& pipeline, const std::string& type) {
        const at::Tensor before = run(pipeline, input());
        pipeline.place("node", "meta");
        CHECK(summary(pipeline.run(from_tensor(input()))) == "tensor float32[2, 2] on meta");
        pipeline.place("node", "cpu");
        check_equal(run(pipeline, input()), before);
        check_result(pipeline, type);
    });
}

TEST_CASE("a golden binary goes to each of two devices and back (simulated)") {
    two_gpus();
    for_each_node([](Pipeline& pipeline, const std::string& type) {
        const Tensors held = parameters(pipeline);
        const at::Tensor before = run(pipeline, input());
        for (const std::string device : {"cuda:0", "cuda:1", "cuda:0", "cpu"}) {
            CAPTURE(device);
            pipeline.place("node", device);
            const at::Tensor result = run(pipeline, input());
            CHECK(result.device().str() == device);
            check_equal(result, before);
            check_result(pipeline, type);
            const Tensors now = parameters(pipeline);
            REQUIRE(now.size() == held.size());
            for (std::size_t i = 0; i < now.size(); ++i) {
                // Who held a parameter, as an optimiser does, holds it still.
                CHECK(now[i].is_same(held[i]));
                CHECK(now[i].device().str() == device);
            }
        }
    });
}

TEST_CASE("the gradients of a golden binary are the numerical ones on a device too (simulated)") {
    two_gpus();
    for_each_node([](Pipeline& pipeline, const std::string&) {
        pipeline.place("node", "cuda:1");
        check_gradients(pipeline);
    });
}

TEST_CASE("a golden binary that is not placed runs where its input is (simulated)") {
    two_gpus();
    for_each_node([](Pipeline& pipeline, const std::string&) {
        const at::Tensor before = run(pipeline, input());
        const at::Tensor there = run(pipeline, input().to(at::Device("cuda:1")));
        CHECK(there.device().str() == "cuda:1");
        check_equal(there, before);
    });
}

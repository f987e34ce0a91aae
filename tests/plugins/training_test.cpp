// SPDX-License-Identifier: Apache-2.0
// Gradients through plugin nodes, none of which knows libtorch, seen from an application that does.
#include "soma/torch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include "run.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;
using namespace soma::test;

namespace {

std::vector<at::Tensor> parameters(const Pipeline& pipeline) {
    std::vector<at::Tensor> tensors;
    for (const State& state : pipeline.parameters()) tensors.push_back(to_tensor(state.value));
    return tensors;
}

/// The gradient of an element by central differences.
double slope(at::Tensor parameter, std::int64_t index, const std::function<double()>& loss) {
    const at::NoGradGuard no_grad;
    const double eps = 1e-2;
    at::Tensor flat = parameter.view({-1});
    const double before = flat[index].item<double>();
    flat[index].fill_(before + eps);
    const double above = loss();
    flat[index].fill_(before - eps);
    const double below = loss();
    flat[index].fill_(before);
    return (above - below) / (2 * eps);
}

const char* const wave = "text.tokenize >> (nn.encoder(dim=4, out=3, buckets=16) | nn.bag(dim=4, buckets=16)) "
                         ">> flow.join(mode=\"concat\") >> nn.linear(in=7, out=2)";

} // namespace

TEST_CASE("gradients flow through a wave of plugin nodes") {
    for (const std::size_t jobs : {1, 2}) {
        PipelineOptions options;
        options.jobs = jobs;
        Pipeline pipeline = somatize(wave, catalog(), options);
        const Value texts = list_of({"to be or not", "be that as it may", "or not"});
        const auto loss = [&] { return to_tensor(pipeline.run(texts)).pow(2).sum(); };
        loss().backward();
        for (const State& state : pipeline.parameters()) {
            CAPTURE(jobs, state.name);
            const at::Tensor parameter = to_tensor(state.value);
            REQUIRE(parameter.grad().defined());
            for (const std::int64_t index : {std::int64_t{0}, parameter.numel() / 2, parameter.numel() - 1}) {
                const double expected = slope(parameter, index, [&] { return loss().item<double>(); });
                CHECK(parameter.grad().view({-1})[index].item<double>() == Approx(expected).epsilon(0.02).margin(0.01));
            }
        }
    }
}

TEST_CASE("a small training loop over plugin nodes lowers its loss") {
    Pipeline pipeline = somatize("text.tokenize >> (nn.encoder(out=8) | nn.bag(dim=8)) >> flow.join(mode=\"concat\") "
                                 ">> nn.linear(in=16, out=8) >> nn.relu >> nn.linear(in=8, out=1).named(\"head\")",
                                 catalog());
    pipeline.train();
    const Value texts = list_of({"good fine great", "bad poor awful", "great good", "awful bad", "fine", "poor"});
    const at::Tensor target = at::tensor({1.0F, -1.0F, 1.0F, -1.0F, 1.0F, -1.0F}).view({6, 1});
    std::vector<double> losses;
    for (int step = 0; step < 60; ++step) {
        const at::Tensor loss = to_tensor(pipeline.run(texts)).sub(target).pow(2).mean();
        losses.push_back(loss.item<double>());
        for (at::Tensor& parameter : parameters(pipeline)) {
            if (parameter.grad().defined()) parameter.mutable_grad().zero_();
        }
        loss.backward();
        const at::NoGradGuard no_grad;
        for (at::Tensor& parameter : parameters(pipeline)) {
            if (parameter.grad().defined()) parameter.sub_(parameter.grad(), 0.05);
        }
    }
    CHECK(losses.back() < 0.1 * losses.front());
}

TEST_CASE("parameters of shipped nodes are leaves and their handles outlive a run") {
    Pipeline pipeline = somatize(wave, catalog());
    const auto before = parameters(pipeline);
    REQUIRE(before.size() == 6);
    static_cast<void>(pipeline.run("to be"));
    const auto after = parameters(pipeline);
    for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK(before[i].is_leaf());
        CHECK(before[i].requires_grad());
        CHECK(before[i].is_same(after[i]));
    }
}

TEST_CASE("parameters outlive the pipeline and the catalog and the last use of their plugin") {
    std::vector<at::Tensor> kept;
    double total = 0;
    {
        Catalog own;
        own.load_file(shipped_plugins() / "nn.soma.so");
        Pipeline pipeline = somatize("nn.embedding(count=8, dim=4)", own);
        kept = parameters(pipeline);
        total = kept.at(0).abs().sum().item<double>();
    }
    CHECK(total > 0);
    // The memory was the plugin's: it is still there, and to let go of it runs the plugin's code.
    CHECK(kept.at(0).abs().sum().item<double>() == total);
    kept.clear();
}

TEST_CASE("a node that computes with raw memory gives its own gradient") {
    Pipeline pipeline = somatize("sample.square", catalog());
    at::Tensor x = at::tensor(std::vector<double>{1, -2, 3}).requires_grad_(true);
    const at::Tensor y = to_tensor(pipeline.run(from_tensor(x)));
    CHECK(at::equal(y.detach(), at::tensor(std::vector<double>{1, 4, 9})));
    REQUIRE(y.requires_grad());
    y.sum().backward();
    CHECK(at::equal(x.grad(), at::tensor(std::vector<double>{2, -4, 6})));
}

TEST_CASE("a node's own gradient works after its pipeline and catalog are gone") {
    at::Tensor x = at::tensor(std::vector<double>{1, -2, 3}).requires_grad_(true);
    at::Tensor y;
    {
        Catalog own;
        own.load_file(test_plugins("sample") / "sample.soma.so");
        y = to_tensor(somatize("sample.square", own).run(from_tensor(x)));
    }
    y.sum().backward();
    CHECK(at::equal(x.grad(), at::tensor(std::vector<double>{2, -4, 6})));
}

TEST_CASE("no gradients are recorded when the caller asked for none") {
    Pipeline pipeline = somatize("nn.linear(in=2, out=2)", catalog());
    const at::NoGradGuard no_grad;
    CHECK_FALSE(to_tensor(pipeline.run(parse_json("[1, 2]"))).requires_grad());
}

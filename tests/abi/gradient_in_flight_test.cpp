// SPDX-License-Identifier: Apache-2.0
// A gradient that a plugin gives itself, when all else of the plugin is gone.
#include <string>
#include <thread>

#include "soma/torch.h"

#include <ATen/ops/tensor.h>

#include "abi/support.h"
#include "soma/pipeline.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

TEST_CASE("a gradient under way keeps its plugin and lets it go when the graph is gone") {
    Log log;
    at::Tensor x = at::tensor({1.0, -2.0, 3.0}, at::kDouble).requires_grad_(true);
    at::Tensor y = to_tensor(somatize("flight.square", catalog_of("flight")).run(from_tensor(x)));
    REQUIRE(y.requires_grad());
    CHECK(y.sum().item<double>() == 14);
    CHECK(log.lines.empty());
    // Autograd's own thread, for all that this one knows of it.
    std::thread([&] { y.sum().backward(); }).join();
    const at::Tensor grad = x.grad();
    REQUIRE(grad.defined());
    CHECK(grad[0].item<double>() == 2);
    CHECK(grad[1].item<double>() == -4);
    CHECK(grad[2].item<double>() == 6);
    CHECK(log.lines.empty());
}

TEST_CASE("the last tensor over a plugin's memory lets the plugin go") {
    Log log;
    {
        at::Tensor x = at::tensor({1.0, -2.0, 3.0}, at::kDouble).requires_grad_(true);
        const at::Tensor y = to_tensor(somatize("flight.square", catalog_of("flight")).run(from_tensor(x)));
        y.sum().backward();
    }
    CHECK(log.lines == std::vector<std::string>{"info flight: the thread has ended", "info flight: shut down"});
}

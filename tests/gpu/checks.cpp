// SPDX-License-Identifier: Apache-2.0
// What must be seen on a real NVIDIA GPU. Prints one line a check and writes a JSON file of figures:
//     gpu_checks FIGURES.json PLUGINS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <dlfcn.h>

#include <torch/cuda.h>
#include <torch/torch.h>

#include <soma/sdk.h>

#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/pipeline.h"
#include "soma/torch.h"

namespace nodes {
using namespace soma::sdk;

/// Queues a lot of work on the device and returns at once: 200 additions of one.
struct Queue : Node {
    static NodeType describe() {
        return NodeType{"gpu.queue"}
            .doc("Adds one 200 times.")
            .input("x", Kind::tensor, "")
            .output("y", Kind::tensor, "");
    }
    using Node::Node;
    Value forward(const Ctx& ctx, const Value& input) {
        Tensor x{obey(ctx, input)};
        for (int i = 0; i < 200; ++i) x = x + 1.0;
        return x;
    }
};

/// Computes where it is told and then brings the result home, which nobody asked for.
struct Stubborn : Node {
    static NodeType describe() {
        return NodeType{"gpu.stubborn"}
            .doc("Returns on cpu.")
            .input("x", Kind::tensor, "")
            .output("y", Kind::tensor, "");
    }
    using Node::Node;
    Value forward(const Ctx& ctx, const Value& input) { return Tensor{obey(ctx, input)}.to("cpu"); }
};

} // namespace nodes

SOMA_PLUGIN(soma::sdk::Plugin("gpu-checks", "1.0.0").doc("Nodes of the GPU checks."), nodes::Queue, nodes::Stubborn)

namespace {

using Clock = std::chrono::steady_clock;

int failed = 0;
std::map<std::string, double> figures;

void require(bool held, const std::string& what) {
    if (!held) throw std::runtime_error(what);
}

void check(const char* name, const std::function<std::string()>& body) {
    std::string said;
    bool passed = true;
    try {
        said = body();
    } catch (const c10::Error& error) {
        said = error.what_without_backtrace();
        passed = false;
        ++failed;
    } catch (const std::exception& error) {
        said = error.what();
        passed = false;
        ++failed;
    }
    std::printf("%s  %s%s%s\n", passed ? "ok  " : "FAIL", name, said.empty() ? "" : ": ", said.c_str());
    std::fflush(stdout);
}

double seconds(const std::function<void()>& body) {
    torch::cuda::synchronize();
    const auto begin = Clock::now();
    body();
    torch::cuda::synchronize();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Bytes in use on `cuda:0`; nothing where the CUDA runtime is not in the process.
std::optional<std::size_t> memory_in_use() {
    if (soma::simulated_cuda() > 0) return soma::simulated_memory(0).bytes;
    using Query = int (*)(std::size_t*, std::size_t*);
    const auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
    std::size_t free = 0;
    std::size_t total = 0;
    if (query == nullptr || query(&free, &total) != 0) return std::nullopt;
    return total - free;
}

soma::Catalog catalog;

std::string several_devices() {
    auto pipeline = soma::somatize(R"(flow.to.named("there").on("cuda:0") >> nn.relu.named("gpu").on("cuda:0") >> )"
                                   R"(flow.to.named("back").on("cpu") >> nn.relu.named("cpu").on("cpu"))",
                                   catalog);
    const at::Tensor x = torch::randn({64, 64});
    const at::Tensor y = soma::to_tensor(pipeline.run(soma::from_tensor(x)));
    require(y.is_cpu(), "the result is not on cpu");
    require(torch::equal(y, torch::relu(x)), "the result is wrong");
    return {};
}

std::string backward() {
    auto pipeline = soma::somatize(R"(nn.linear(in=32, out=64).named("a").on("cuda:0") >> nn.relu.on("cuda:0") >> )"
                                   R"(flow.to.on("cpu") >> nn.linear(in=64, out=8).named("b").on("cpu"))",
                                   catalog);
    const at::Tensor x = torch::randn({16, 32});
    const at::Tensor target = torch::randn({16, 8});
    soma::to_tensor(pipeline.run(soma::from_tensor(x))); // places the parameters
    std::vector<at::Tensor> parameters;
    for (const auto& state : pipeline.parameters()) parameters.push_back(soma::to_tensor(state.value));
    torch::optim::SGD optimiser(parameters, 0.05);
    double first = 0;
    double last = 0;
    for (int step = 0; step < 50; ++step) {
        optimiser.zero_grad();
        const at::Tensor loss = torch::mse_loss(soma::to_tensor(pipeline.run(soma::from_tensor(x))), target);
        loss.backward();
        for (const auto& parameter : parameters) {
            require(parameter.grad().defined(), "a parameter has no gradient");
            require(parameter.grad().device() == parameter.device(),
                    "a gradient is on another device than its parameter");
        }
        optimiser.step();
        (step == 0 ? first : last) = loss.item<double>();
    }
    require(parameters.front().is_cuda() && parameters.back().is_cpu(), "parameters are not where their nodes are");
    require(last < first, "the loss did not fall");
    return "loss " + std::to_string(first) + " to " + std::to_string(last);
}

std::string postcondition() {
    auto pipeline = soma::somatize(R"(gpu.stubborn.named("encoder").on("cuda:0"))", catalog);
    std::string said;
    try {
        pipeline.run(soma::from_tensor(torch::ones({4})));
    } catch (const soma::NodeError& error) {
        said = error.what();
    }
    require(said == "node `encoder` failed: it declared `cuda:0` but returned a value on `cpu`", "it said: " + said);
    return {};
}

std::string streams() {
    auto pipeline = soma::somatize(R"(gpu.queue.named("q").on("cuda:0") >> (gpu.queue.named("r").on("cuda:0") | )"
                                   R"(flow.to.named("home").on("cpu")))",
                                   catalog);
    const at::Tensor x = torch::zeros({1 << 16});
    for (int i = 0; i < 1000; ++i) {
        const soma::Value both = pipeline.run(soma::from_tensor(x));
        const at::Tensor home = soma::to_tensor(both.at(1));
        require(home.min().item<float>() == 200.0F && home.max().item<float>() == 200.0F,
                "run " + std::to_string(i) + ": the host read before the work was done");
        const at::Tensor twice = soma::to_tensor(both.at(0)).cpu();
        require(twice.min().item<float>() == 400.0F && twice.max().item<float>() == 400.0F,
                "run " + std::to_string(i) + ": the next node read before the work was done");
    }
    return "1000 runs";
}

std::string memory() {
    auto pipeline =
        soma::somatize(R"((gpu.queue.named("a").on("cuda:0") | gpu.queue.named("b").on("cuda:0")))", catalog);
    const soma::Value x = soma::from_tensor(torch::zeros({1 << 20}));
    for (int i = 0; i < 2; ++i) pipeline.run(x);
    torch::cuda::synchronize();
    const auto after_second = memory_in_use();
    for (int i = 0; i < 200; ++i) pipeline.run(x);
    torch::cuda::synchronize();
    const auto at_end = memory_in_use();
    if (!after_second || !at_end) return "not measured: the process has no CUDA runtime to ask";
    require(*at_end <= *after_second, std::to_string(*at_end - *after_second) + " bytes were lost in 200 runs");
    return "flat over 200 runs";
}

std::string hop() {
    auto pipeline = soma::somatize(R"(flow.to.named("there").on("cuda:0"))", catalog);
    const at::Tensor x = torch::ones({64 << 18}); // 64 MiB of floats
    const soma::Value value = soma::from_tensor(x);
    const auto best = [](const std::function<void()>& body) {
        double least = 1e9;
        for (int i = 0; i < 10; ++i) least = std::min(least, seconds(body));
        return least;
    };
    const double hop_s = best([&] { pipeline.run(value); });
    const double plain_s = best([&] { x.to("cuda:0"); });
    figures["hop_gb_per_s"] = 64.0 / 1024 / hop_s;
    figures["plain_copy_gb_per_s"] = 64.0 / 1024 / plain_s;
    std::string said = std::to_string(figures["hop_gb_per_s"]) + " GiB/s, a plain copy " +
                       std::to_string(figures["plain_copy_gb_per_s"]) + " GiB/s";
    if (soma::simulated_cuda() == 0) {
        const at::Tensor pinned = x.pin_memory();
        const double pinned_s = best([&] { pinned.to("cuda:0", true); });
        figures["pinned_copy_gb_per_s"] = 64.0 / 1024 / pinned_s;
        said += ", a pinned one " + std::to_string(figures["pinned_copy_gb_per_s"]) + " GiB/s";
    }
    require(hop_s < plain_s * 1.5 + 0.001, said);
    return said;
}

std::string overhead() {
    constexpr int nodes = 200;
    std::string text;
    for (int i = 0; i < nodes; ++i) text += std::string(i == 0 ? "" : " >> ") + "nn.relu";
    auto pipeline = soma::somatize("(" + text + R"().on("cuda:0"))", catalog);
    const at::Tensor x = torch::randn({64, 64}, torch::Device("cuda:0"));
    const soma::Value value = soma::from_tensor(x);
    const torch::NoGradGuard no_grad;
    double ours = 1e9;
    double plain = 1e9;
    for (int i = 0; i < 30; ++i) {
        ours = std::min(ours, seconds([&] { pipeline.run(value); }));
        plain = std::min(plain, seconds([&] {
                             at::Tensor y = x;
                             for (int n = 0; n < nodes; ++n) y = torch::relu(y);
                         }));
    }
    figures["node_ns"] = ours / nodes * 1e9;
    figures["plain_loop_ns"] = plain / nodes * 1e9;
    figures["overhead_ns"] = (ours - plain) / nodes * 1e9;
    return std::to_string(figures["overhead_ns"]) + " ns a node over a plain loop's " +
           std::to_string(figures["plain_loop_ns"]) + " ns";
}

std::string preflight() {
    soma::Placement placement;
    placement.place("far", soma::Device::parse("cuda:100"));
    std::string said;
    try {
        soma::preflight(placement);
    } catch (const soma::PlacementError& error) {
        said = error.what();
    }
    require(said.find("`far` on `cuda:100`") != std::string::npos, "it said: " + said);
    return said;
}

} // namespace

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::fprintf(stderr, "usage: gpu_checks FIGURES.json PLUGINS\n");
        return 2;
    }
    // To try the checks themselves where there is no GPU.
    if (std::getenv("SOMATIZE_GPU_CHECKS_SIMULATED") != nullptr) soma::simulate_cuda(1);
    if (soma::visible_devices(soma::DeviceKind::cuda).empty()) {
        std::printf("FAIL  no cuda device is visible\n");
        return 1;
    }
    if (soma::simulated_cuda() > 0) {
        std::printf("simulated: these are not figures of a GPU\n");
        figures["simulated_devices"] = soma::simulated_cuda();
    }
    catalog.load_directory(argv[2]);
    catalog.add(soma_plugin_entry);

    check("cuda:0 and cpu in one graph", several_devices);
    check("gradients cross the hop and training lowers the loss", backward);
    check("a node that ends with a copy to cpu is named", postcondition);
    check("a device that is not there is named before anything runs", preflight);
    check("what a node queued is done before the next node or the host reads it", streams);
    check("device memory is flat from the second run", memory);
    check("a hop of 64 MB costs what a copy costs", hop);
    check("a node's overhead", overhead);

    std::string json = "{";
    for (const auto& [name, value] : figures) {
        json += (json.size() > 1 ? ", \"" : "\"") + name + "\": " + std::to_string(value);
    }
    if (std::FILE* file = std::fopen(argv[1], "w")) {
        std::fprintf(file, "%s}\n", json.c_str());
        std::fclose(file);
    }
    std::printf("%s\n", failed == 0 ? "all checks held" : "some checks failed");
    return failed == 0 ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_checks: %s\n", error.what());
    return 1;
}

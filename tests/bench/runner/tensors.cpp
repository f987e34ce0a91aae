// SPDX-License-Identifier: Apache-2.0
// B3, B4, B7 and B9: what is compared with libtorch itself. The one file here that includes it.
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include <torch/version.h>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/GradMode.h>

#include "rows.h"
#include "soma/detail/engine.h"
#include "soma/torch.h"

namespace soma::bench {
namespace {

using at::Tensor;

Value number(std::int64_t value) { return Value(value); }

std::unique_ptr<Pipeline> ready(Graph graph) {
    const Placement placement = all_on_cpu(graph);
    return std::make_unique<Pipeline>(std::move(graph), catalog(), placement, PipelineOptions{.jobs = 2, .seed = 1});
}

// B3.

void adds(Recorder& recorder) {
    std::deque<std::unique_ptr<Pipeline>> pipelines;
    std::vector<Point> points;
    for (const std::int64_t size : {1, 64}) {
        const Tensor input = at::full({size, size}, 0.5);
        for (const std::size_t nodes :
             recorder.tiny() ? std::vector<std::size_t>{2, 4} : std::vector<std::size_t>{10, 60}) {
            Graph graph;
            const Value config = Value::dict({{"size", number(size)}});
            Graph::Index last = add(graph, "maths.add", config);
            for (std::size_t i = 1; i < nodes; ++i) last = add(graph, "maths.add", config, &last);
            Pipeline& pipeline = *pipelines.emplace_back(ready(std::move(graph)));
            // Terms of its own for every addition, as the nodes have.
            std::vector<Tensor> terms;
            for (std::size_t i = 0; i < nodes; ++i) terms.push_back(at::full({size, size}, 0.25));
            Point point{size == 1 ? "add of one element" : "add of 64x64", static_cast<double>(nodes), {}};
            point.sides.push_back({"soma", runs(pipeline, from_tensor(input))});
            point.sides.push_back({"libtorch", [input, terms](std::size_t repeats) {
                                       for (std::size_t i = 0; i < repeats; ++i) {
                                           Tensor x = input;
                                           for (const Tensor& term : terms) x = at::add(x, term);
                                           keep(x);
                                       }
                                   }});
            points.push_back(std::move(point));
        }
    }
    recorder.measure("B3", points);
}

// B4 and B7.

/// A pipeline, and the same maths by hand on the same tensors.
struct Network {
    std::string name;
    std::unique_ptr<Pipeline> pipeline;
    std::vector<Tensor> weights; ///< of the pipeline's nodes, in their order
    Tensor (*by_hand)(const std::vector<Tensor>& weights, Tensor input);

    void read_weights() {
        for (const State& state : pipeline->parameters()) weights.push_back(to_tensor(state.value));
    }
};

constexpr std::int64_t width = 512;
constexpr std::size_t layers = 6;

Tensor perceptron_by_hand(const std::vector<Tensor>& weights, Tensor x) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
        x = at::linear(x, weights[2 * layer], weights[2 * layer + 1]);
        if (layer + 1 < layers) x = at::relu(x);
    }
    return x;
}

Network perceptron() {
    Graph graph;
    const Value config = Value::dict({{"in", number(width)}, {"out", number(width)}});
    Graph::Index last = add(graph, "nn.linear", config);
    for (std::size_t layer = 1; layer < layers; ++layer) {
        last = add(graph, "nn.relu", {}, &last);
        last = add(graph, "nn.linear", config, &last);
    }
    Network network{"MLP of 6 layers, 512 wide", ready(std::move(graph)), {}, perceptron_by_hand};
    network.read_weights();
    return network;
}

constexpr std::int64_t model = 64;
constexpr std::int64_t heads = 4;
constexpr std::int64_t length = 16;
constexpr std::size_t blocks = 2;

Tensor attention_by_hand(const Tensor* w, const Tensor& x) {
    const Tensor normal = at::layer_norm(x, {model}, w[0], w[1]);
    const Tensor parts = at::linear(normal, w[2], w[3])
                             .reshape({x.size(0), x.size(1), 3, heads, model / heads})
                             .permute({2, 0, 3, 1, 4});
    const Tensor scale = at::matmul(parts.select(0, 0), parts.select(0, 1).transpose(-2, -1)) *
                         (1 / std::sqrt(static_cast<double>(model / heads)));
    const Tensor mixed = at::matmul(at::softmax(scale, -1), parts.select(0, 2));
    return x + at::linear(mixed.transpose(1, 2).reshape({x.size(0), x.size(1), model}), w[4], w[5]);
}

Tensor feed_forward_by_hand(const Tensor* w, const Tensor& x) {
    return x + at::linear(at::gelu(at::linear(at::layer_norm(x, {model}, w[0], w[1]), w[2], w[3])), w[4], w[5]);
}

Tensor encoder_by_hand(const std::vector<Tensor>& weights, Tensor x) {
    for (std::size_t block = 0; block < blocks; ++block) {
        x = attention_by_hand(&weights[12 * block], x);
        x = feed_forward_by_hand(&weights[12 * block + 6], x);
    }
    return x;
}

Network encoder() {
    Graph graph;
    const Value config = Value::dict({{"dim", number(model)}, {"heads", number(heads)}});
    Graph::Index last = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
        last = add(graph, "maths.attention", config, block == 0 ? nullptr : &last);
        last = add(graph, "maths.feed_forward", config, &last);
    }
    Network network{"transformer encoder, 2 blocks, 64 wide", ready(std::move(graph)), {}, encoder_by_hand};
    network.read_weights();
    return network;
}

Tensor input_for(const Network& network, std::int64_t batch) {
    return network.by_hand == perceptron_by_hand
               ? at::linspace(-1, 1, batch * width).reshape({batch, width})
               : at::linspace(-1, 1, batch * length * model).reshape({batch, length, model});
}

void networks(Recorder& recorder) {
    std::deque<Network> all;
    all.push_back(perceptron());
    all.push_back(encoder());
    for (Network& network : all) {
        for (const std::int64_t batch : {1, 64}) {
            if (recorder.tiny() && batch > 1) continue;
            const Tensor input = input_for(network, batch);
            const Tensor ours = to_tensor(network.pipeline->run(from_tensor(input)));
            if (!at::allclose(ours, network.by_hand(network.weights, input), 1e-4, 1e-5)) {
                throw std::runtime_error(network.name + ": the pipeline and the maths by hand differ");
            }
            Point point{network.name + ", batch " + std::to_string(batch), static_cast<double>(batch), {}};
            point.sides.push_back({"soma", runs(*network.pipeline, from_tensor(input))});
            point.sides.push_back({"libtorch", [&network, input](std::size_t repeats) {
                                       for (std::size_t i = 0; i < repeats; ++i)
                                           keep(network.by_hand(network.weights, input));
                                   }});
            recorder.measure("B4", {point}, 101, std::chrono::milliseconds(10));
        }
    }
}

/// Counts the bytes that tensors hold. One there is, as libtorch frees without saying whose memory it is.
class Counting final : public c10::Allocator {
public:
    static Counting& the() {
        static Counting counting;
        return counting;
    }
    void start() {
        const std::lock_guard guard(mutex_);
        held_ = peak_ = 0;
    }
    [[nodiscard]] std::size_t peak() const { return peak_; }

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
    c10::DataPtr allocate(std::size_t bytes) override { return counted(bytes); }
    void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }
#else
    c10::DataPtr allocate(std::size_t bytes) const override { return counted(bytes); }
#endif
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &Counting::free; }

private:
    [[nodiscard]] c10::DataPtr counted(std::size_t bytes) const {
        c10::DataPtr memory = c10::GetDefaultCPUAllocator()->allocate(bytes);
        void* const at = memory.get();
        if (at == nullptr) return {nullptr, c10::Device(c10::DeviceType::CPU)};
        const std::lock_guard guard(mutex_);
        blocks_.emplace(at, Block{std::move(memory), bytes});
        held_ += bytes;
        peak_ = std::max(peak_, held_);
        return {at, at, &Counting::free, c10::Device(c10::DeviceType::CPU)};
    }
    static void free(void* at) {
        const Counting& counting = the();
        const std::lock_guard guard(counting.mutex_);
        const auto block = counting.blocks_.find(at);
        if (block == counting.blocks_.end()) return;
        counting.held_ -= std::min(block->second.bytes, counting.held_);
        counting.blocks_.erase(block);
    }

    struct Block {
        c10::DataPtr memory;
        std::size_t bytes;
    };
    mutable std::mutex mutex_; ///< guards what follows
    mutable std::unordered_map<void*, Block> blocks_;
    mutable std::size_t held_ = 0;
    mutable std::size_t peak_ = 0;
};

void memory(Recorder& recorder) {
    Counting& counting = Counting::the();
    c10::Allocator* const before = c10::GetAllocator(c10::DeviceType::CPU);
    std::deque<Network> all;
    all.push_back(perceptron());
    all.push_back(encoder());
    for (Network& network : all) {
        const Tensor input = input_for(network, 64);
        const Value value = from_tensor(input);
        c10::SetAllocator(c10::DeviceType::CPU, &counting, 255);
        for (std::size_t pair = 0; pair < recorder.effort().pairs; ++pair) {
            counting.start();
            keep(network.pipeline->run(value));
            recorder.put("B7", network.name, 64, pair % 2 == 0 ? "soma" : "again", pair / 2,
                         static_cast<double>(counting.peak()));
            counting.start();
            keep(network.by_hand(network.weights, input));
            recorder.put("B7", network.name, 64, "libtorch", pair, static_cast<double>(counting.peak()));
        }
        c10::SetAllocator(c10::DeviceType::CPU, before, 255);
    }
}

// B9.

void postconditions(Recorder& recorder) {
    std::deque<std::unique_ptr<Pipeline>> pipelines;
    std::vector<Point> points;
    for (const std::size_t count :
         recorder.tiny() ? std::vector<std::size_t>{2, 20} : std::vector<std::size_t>{100, 1100}) {
        std::vector<Tensor> tensors;
        std::vector<Value> values;
        for (std::size_t i = 0; i < count; ++i) {
            tensors.push_back(at::full({2}, 0.5));
            values.push_back(from_tensor(tensors.back()));
        }
        const Value list = Value::list(std::move(values));
        Graph placed;
        add(placed, "bench.noop");
        Graph unplaced = placed;
        Point point{"a list of tensors", static_cast<double>(count), {}};
        point.sides.push_back({"soma", runs(*pipelines.emplace_back(ready(std::move(placed))), list)});
        pipelines.push_back(
            std::make_unique<Pipeline>(std::move(unplaced), catalog(), Placement(), PipelineOptions{.jobs = 2}));
        point.sides.push_back({"unplaced", runs(*pipelines.back(), list)});
        point.sides.push_back({"Tensor::device()", [tensors](std::size_t repeats) {
                                   for (std::size_t i = 0; i < repeats; ++i) {
                                       for (const Tensor& tensor : tensors) keep(tensor.device());
                                   }
                               }});
        points.push_back(std::move(point));
    }
    recorder.measure("B9", points);
}

} // namespace

std::string tensor_library() { return detail::require_engine().library; }
void tensor_rows(Recorder& recorder) {
    // One thread within an operator: what is compared is the way to the operator, and two cores are few.
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    if (recorder.wants("B3")) adds(recorder);
    if (recorder.wants("B9")) postconditions(recorder);
    const c10::NoGradGuard no_grad;
    if (recorder.wants("B4")) networks(recorder);
    if (recorder.wants("B7")) memory(recorder);
    at::set_num_threads(threads);
}

} // namespace soma::bench

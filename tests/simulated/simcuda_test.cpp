// SPDX-License-Identifier: Apache-2.0
//
// What simulated devices promise, each as a user of libtorch meets it. What every operator does is in
// operators_test.cpp.
#include "soma/detail/simcuda.h"

#include <ATen/DLConvertor.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <torch/script.h>
#include <torch/torch.h>

// After libtorch, whose headers may bring another CHECK.
#include "support/catch.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

const auto cpu = c10::Device(c10::kCPU);
const auto cuda0 = c10::Device(c10::kCUDA, 0);
const auto cuda1 = c10::Device(c10::kCUDA, 1);

const soma_simcuda_api& started() {
    const auto* const api = soma_simcuda();
    const char* const why = api->start(4);
    INFO((why == nullptr ? "" : why));
    REQUIRE(why == nullptr);
    return *api;
}

template <class Function>
std::string message(Function function) {
    try {
        function();
    } catch (const c10::Error& error) {
        return error.what_without_backtrace();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no error";
}

template <class Function>
void refuses_mixed(Function function) {
    const auto said = message(function);
    INFO(said);
    CHECK(said.rfind("Expected all tensors to be on the same device, but ", 0) == 0);
}

bool same(const at::Tensor& left, const at::Tensor& right) { return at::allclose(left.cpu(), right.cpu()); }

/// What a command prints, on both streams, and its exit status.
struct Output {
    std::string text;
    int status = -1;
};

Output run(const std::string& arguments) {
    Output output;
    std::FILE* const pipe = popen((SOMA_SIMULATED_LATE " " + arguments + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output.text += buffer.data();
    const int result = pclose(pipe);
    output.status = WIFEXITED(result) ? WEXITSTATUS(result) : -WTERMSIG(result);
    return output;
}

const std::string too_late_to_look =
    "simulated devices were asked for too late: libtorch has looked for CUDA devices and found none; ask before the "
    "first device count, seed or pinned tensor\n";
const std::string too_late_for_backward =
    "simulated devices were asked for too late: libtorch has run a backward, and autograd has no threads for them; ask "
    "before the first backward\n";

} // namespace

// --- Starting ---

TEST_CASE("libtorch sees as many simulated CUDA devices as were started (simulated)") {
    const auto& api = started();
    CHECK(api.struct_size == sizeof(soma_simcuda_api));
    CHECK(api.devices() == 4);
    CHECK(torch::cuda::is_available());
    CHECK(torch::cuda::device_count() == 4);
    CHECK(api.start(4) == nullptr);
    CHECK(std::string(api.start(3)) ==
          "simulated devices were started already, and another number of them; it cannot change in a process");
    CHECK(api.devices() == 4);
}

TEST_CASE("one to sixty-four devices can be simulated (simulated)") {
    CHECK(run("nothing 0 65 64").text ==
          "1 to 64 devices can be simulated\n1 to 64 devices can be simulated\nstarted\n");
    const auto one = run("nothing 1");
    CHECK(one.text == "started\n");
    CHECK(one.status == 0);
}

TEST_CASE("tensors made before do not make it too late (simulated)") {
    const auto output = run("'tensor operators' 2");
    CHECK(output.text == "started\n");
    CHECK(output.status == 0);
}

TEST_CASE("too late after libtorch was asked about CUDA is a named error (simulated)") {
    for (const char* const what : {"'device count'", "'is available'", "seed"}) {
        const auto output = run(std::string(what) + " 2 2");
        INFO(what);
        CHECK(output.text == too_late_to_look + too_late_to_look);
        CHECK(output.status == 0);
    }
}

TEST_CASE("too late after a backward is a named error (simulated)") {
    const auto output = run("backward 2 2");
    CHECK(output.text == too_late_for_backward + too_late_for_backward);
    CHECK(output.status == 0);
}

TEST_CASE("beside real CUDA devices are not simulated (simulated)") {
    const auto library = run("library 2");
    CHECK(library.text == "this libtorch was built with real CUDA; devices are simulated on a CPU-only libtorch\n");
    CHECK(library.status == 0);
    const auto guard = run("guard 2");
    CHECK(guard.text == "something in this process has given libtorch CUDA devices already\n");
    CHECK(guard.status == 0);
    const auto hooks = run("hooks 2");
    CHECK(hooks.text == "something in this process has told libtorch about CUDA already\n");
    CHECK(hooks.status == 0);
}

// --- Devices ---

TEST_CASE("tensors are on the device they were put on (simulated)") {
    started();
    const auto there = torch::arange(6).to(cuda1);
    CHECK(there.device() == cuda1);
    CHECK(there.is_cuda());
    CHECK(there.storage().device() == cuda1);
    CHECK((there + 1).device() == cuda1);
    CHECK(torch::zeros({2}, cuda0).device() == cuda0);
    CHECK(there.to(cuda0).device() == cuda0);
    CHECK(there.cpu().device() == cpu);
    CHECK(there.cpu().equal(torch::arange(6)));
    CHECK(torch::empty({0, 3}, cuda1).device() == cuda1);
    std::ostringstream printed;
    printed << there;
    CHECK(printed.str().find("CUDALongType{6}") != std::string::npos);
}

TEST_CASE("a device without an index is this thread's current one (simulated)") {
    started();
    CHECK(torch::zeros({2}, torch::kCUDA).device() == cuda0);
    {
        const c10::DeviceGuard guard(cuda1);
        CHECK(torch::zeros({2}, torch::kCUDA).device() == cuda1);
        std::thread([] { CHECK(torch::zeros({2}, torch::kCUDA).device() == cuda0); }).join();
        CHECK((torch::zeros({2}, cuda0) + 1).device() == cuda0);
        CHECK(torch::zeros({2}, torch::kCUDA).device() == cuda1);
    }
    CHECK(torch::zeros({2}, torch::kCUDA).device() == cuda0);
}

TEST_CASE("a device that is not there is refused as on hardware (simulated)") {
    started();
    CHECK(message([] { torch::zeros({2}, c10::Device("cuda:4")); }) == "CUDA error: invalid device ordinal");
    CHECK(message([] { const c10::DeviceGuard guard(c10::Device("cuda:9")); }) == "CUDA error: invalid device ordinal");
    CHECK(message([] { torch::ones({2}).to(c10::Device("cuda:4")); }) == "CUDA error: invalid device ordinal");
}

TEST_CASE("tensors of two devices do not meet in one operator (simulated)") {
    started();
    const auto x = torch::rand({3, 3});
    const auto on0 = x.to(cuda0);
    const auto on1 = x.to(cuda1);
    CHECK(message([&] { on0 + on1; })
              .find("Expected all tensors to be on the same device, but found at least two "
                    "devices, cuda:0 and cuda:1!") == 0);
    CHECK(message([&] { on0 + x; })
              .find("Expected all tensors to be on the same device, but found at least two "
                    "devices, cuda:0 and cpu!") == 0);
    refuses_mixed([&] { on0.matmul(on1); });
    refuses_mixed([&] { on0.matmul(x); });
    refuses_mixed([&] { torch::cat({on0, on1}); });
    refuses_mixed([&] { torch::stack({on0, on1}); });
    refuses_mixed([&] { torch::where(on0 > 0, on0, on1); });
    refuses_mixed([&] { torch::nn::functional::linear(on0, on1, on0[0]); });
    refuses_mixed([&] { torch::mse_loss(on0, on1); });
    refuses_mixed([&] { torch::layer_norm(on0, {3}, on1[0], on1[0]); });
    refuses_mixed([&] { torch::conv1d(on0.unsqueeze(0), on1.unsqueeze(0)); });
    refuses_mixed([&] { on0.clone().add_(on1); });
    refuses_mixed([&] { on0.clone().masked_fill_(on1 > 0, 1); });
    refuses_mixed([&] { torch::embedding(on0, torch::zeros({2}, torch::kLong)); });
    refuses_mixed([&] { on0.index_select(0, torch::zeros({2}, torch::kLong)); });
    refuses_mixed([&] { on0.gather(0, torch::zeros({2, 2}, torch::kLong)); });
    CHECK(x.equal(on0.cpu()));
}

TEST_CASE("a scalar of the CPU meets a device where hardware lets it (simulated)") {
    started();
    const auto on1 = torch::ones({3}, cuda1);
    const auto two = torch::tensor(2.0f);
    CHECK((on1 + two).device() == cuda1);
    CHECK((two * on1).cpu().equal(torch::full({3}, 2.0f)));
    CHECK(on1.where(on1 > 0, two).device() == cuda1);
    CHECK(on1.clone().mul_(two).device() == cuda1);
    // Not the other way round, not to write to, and not as an index.
    refuses_mixed([&] { torch::ones({3}) + torch::tensor(2.0f).to(cuda1); });
    refuses_mixed([&] { on1.index_select(0, torch::tensor(1)); });
    refuses_mixed([&] { on1 + two.to(cuda0); });
}

TEST_CASE("indices of the CPU are taken where hardware takes them (simulated)") {
    started();
    auto x = torch::arange(12).reshape({3, 4});
    const auto rows = torch::tensor({2, 0});
    auto there = x.to(cuda1);
    CHECK(there.index({rows}).device() == cuda1);
    CHECK(there.index({rows}).cpu().equal(x.index({rows})));
    CHECK(there.index({rows.to(cuda1)}).cpu().equal(x.index({rows})));
    CHECK(message([&] { there.index({rows.to(cuda0)}); }) ==
          "indices should be either on cpu or on the same device as the indexed tensor (cuda:1)");
    CHECK(message([&] { there.index_put_({rows.to(cuda0)}, torch::tensor(7)); }) ==
          "indices should be either on cpu or on the same device as the indexed tensor (cuda:1)");
    CHECK(message([&] { x.index_put_({rows.to(cuda0)}, torch::tensor(7)); }) ==
          "indices should be either on cpu or on the same device as the indexed tensor (cpu)");
    refuses_mixed([&] { there.index_put_({rows}, torch::ones({2, 4}, torch::kLong)); });
    there.index_put_({rows.to(cuda1)}, torch::tensor(7));
    CHECK(there.cpu().equal(x.clone().index_put_({rows}, torch::tensor(7))));
    CHECK(there.index({torch::indexing::Slice(1), torch::indexing::None, 2}).device() == cuda1);
}

// --- Memory ---

TEST_CASE("what each device holds is counted (simulated)") {
    const auto& api = started();
    const auto before = api.allocated_bytes(1);
    torch::zeros({1}, cuda0);
    api.reset_counters();
    CHECK(api.allocations(1) == 0);
    {
        const auto kilobyte = torch::zeros({256}, cuda1);
        CHECK(api.allocated_bytes(1) == before + 1024);
        CHECK(api.allocations(1) == 1);
        const auto view = kilobyte.narrow(0, 0, 10);
        CHECK(api.allocations(1) == 1);
        const auto sum = kilobyte + kilobyte;
        CHECK(api.allocated_bytes(1) == before + 2048);
        CHECK(api.allocations(1) == 2);
    }
    CHECK(api.allocated_bytes(1) == before);
    CHECK(api.peak_bytes(1) == before + 2048);
    api.reset_counters();
    CHECK(api.peak_bytes(1) == before);
    CHECK(api.allocated_bytes(4) == 0);
    CHECK(api.allocations(0) == 0);
}

TEST_CASE("what runs elsewhere allocates nothing on a device (simulated)") {
    const auto& api = started();
    torch::nn::Linear layer(8, 8);
    layer->to(cuda0);
    const auto host = torch::rand({4, 8});
    layer(host.to(cuda0)).sum().backward();
    torch::rand({4, 8}).matmul(torch::rand({8, 8}));
    CHECK(api.allocations(0) > 0);
    CHECK(api.allocations(1) == 0);
    CHECK(api.allocated_bytes(1) == 0);
    CHECK(api.peak_bytes(1) == 0);
}

TEST_CASE("storage that grows on a device is counted and keeps its views (simulated)") {
    const auto& api = started();
    auto small = torch::ones({4}, cuda1);
    const auto view = small.narrow(0, 1, 2);
    const auto before = api.allocated_bytes(1);
    small.resize_({1024});
    CHECK(api.allocated_bytes(1) == before - 16 + 4096);
    CHECK(small.device() == cuda1);
    small.fill_(5);
    CHECK(view.cpu().equal(torch::full({2}, 5.0f)));
    auto out = torch::empty({0}, cuda1);
    torch::add_out(out, small, small);
    CHECK(out.cpu().equal(torch::full({1024}, 10.0f)));
    CHECK(out.device() == cuda1);
}

TEST_CASE("pinned memory is told from other memory (simulated)") {
    started();
    const auto x = torch::rand({3, 4});
    const auto pinned = x.pin_memory();
    CHECK(pinned.is_pinned());
    CHECK_FALSE(x.is_pinned());
    CHECK(pinned.device() == cpu);
    CHECK(pinned.equal(x));
    CHECK(pinned.pin_memory().data_ptr() == pinned.data_ptr());
    CHECK(torch::empty({3}, torch::TensorOptions().pinned_memory(true)).is_pinned());
    CHECK(pinned.to(cuda1, x.scalar_type(), true).cpu().equal(x));
    CHECK_FALSE(x.to(cuda1).is_pinned());
    CHECK(message([&] { x.to(cuda1).pin_memory(); }).find("only dense CPU tensors can be pinned") != std::string::npos);
}

// --- Views ---

TEST_CASE("views are views on a device (simulated)") {
    started();
    const auto views_of = [](const at::Tensor& base) {
        return std::vector<at::Tensor>{base.view({6, 4}),       base.transpose(0, 2), base[1],
                                       base.narrow(2, 1, 2),    base.unfold(2, 2, 1), base.reshape({24}),
                                       base.permute({2, 0, 1}), base.diagonal(),      base.expand({2, 3, 4}),
                                       base.select(1, 2),       base.unsqueeze(0),    base.view(torch::kInt)};
    };
    const auto host = torch::arange(24, torch::kFloat).reshape({2, 3, 4}).clone();
    const auto base = host.to(cuda1);
    const auto views = views_of(base);
    const auto on_host = views_of(host);
    for (std::size_t at = 0; at < views.size(); ++at) {
        INFO(at);
        CHECK(views[at].device() == cuda1);
        CHECK(views[at].is_view() == on_host[at].is_view());
        CHECK(views[at].storage().is_alias_of(base.storage()));
        CHECK(views[at].strides() == on_host[at].strides());
        CHECK(views[at].storage_offset() == on_host[at].storage_offset());
        CHECK(views[at].cpu().equal(on_host[at]));
    }
    const auto version = base._version();
    views[2].fill_(-1);
    CHECK(base._version() > version);
    CHECK(views[5].narrow(0, 12, 12).cpu().equal(torch::full({12}, -1.0f)));
    base.zero_();
    for (const auto& view : views) CHECK(view.to(torch::kFloat).sum().item<float>() == 0);
    views[1].add_(3);
    CHECK(base.cpu().equal(torch::full({2, 3, 4}, 3.0f)));
    CHECK(message([&] { base.transpose(0, 1).view({24}); }).find("view size is not compatible") == 0);
}

TEST_CASE("an operator in place returns the tensor itself (simulated)") {
    started();
    auto x = torch::ones({3}, cuda1);
    CHECK(x.add_(1).is_same(x));
    CHECK(x.relu_().is_same(x));
    CHECK(x.squeeze_().is_same(x));
    CHECK(x.transpose_(0, 0).is_same(x));
    x.unsqueeze_(0);
    CHECK(x.sizes() == at::IntArrayRef({1, 3}));
    CHECK(x.cpu().equal(torch::full({1, 3}, 2.0f)));
}

TEST_CASE("gradients flow through views on a device (simulated)") {
    started();
    const auto leaf = torch::ones({2, 3}, torch::TensorOptions(cuda1).requires_grad(true));
    auto copy = leaf.clone();
    copy.view({6}).narrow(0, 0, 2).mul_(5);
    copy.t().sum().backward();
    CHECK(leaf.grad().cpu().equal(torch::tensor({5.0f, 5.0f, 1.0f, 1.0f, 1.0f, 1.0f}).view({2, 3})));
}

// --- Kinds of tensors ---

TEST_CASE("dtypes convert on a device and on the way to it (simulated)") {
    started();
    const auto x = torch::tensor({0.0f, 1.5f, -2.0f, 100.0f});
    for (const auto dtype : {torch::kDouble, torch::kFloat, torch::kHalf, torch::kBFloat16, torch::kLong, torch::kInt,
                             torch::kShort, torch::kChar, torch::kBool, torch::kComplexFloat, torch::kComplexDouble}) {
        const auto there = x.to(cuda1, dtype);
        CHECK(there.device() == cuda1);
        CHECK(there.scalar_type() == dtype);
        CHECK(there.cpu().equal(x.to(dtype)));
        CHECK(x.to(cuda1).to(dtype).cpu().equal(x.to(dtype)));
        CHECK(torch::zeros({2}, torch::TensorOptions(cuda1).dtype(dtype)).scalar_type() == dtype);
    }
    CHECK((x.to(cuda1) + torch::ones({4}, torch::TensorOptions(cuda1).dtype(torch::kLong))).scalar_type() ==
          torch::kFloat);
    CHECK((torch::ones({2}, torch::TensorOptions(cuda1).dtype(torch::kHalf)) * 2.5).scalar_type() == torch::kHalf);
    CHECK(torch::empty({1}, cuda1).scalar_type() == torch::kFloat);
    torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
    CHECK(torch::empty({1}, cuda1).scalar_type() == torch::kDouble);
    torch::set_default_dtype(caffe2::TypeMeta::Make<float>());
}

TEST_CASE("complex tensors keep their conjugate bit on a device (simulated)") {
    started();
    const auto x = torch::complex(torch::rand({3}), torch::rand({3}));
    const auto there = x.to(cuda1).conj();
    CHECK(there.is_conj());
    CHECK(there.device() == cuda1);
    CHECK(same(there * 2, x.conj() * 2));
    CHECK(same(torch::imag(there), torch::imag(x.conj())));
    CHECK(same(there.clone().abs(), x.abs()));
    CHECK(same(torch::view_as_real(there.resolve_conj()), torch::view_as_real(x.conj().resolve_conj())));
}

TEST_CASE("half precision computes on a device also where the CPU cannot (simulated)") {
    started();
    for (const auto dtype : {torch::kHalf, torch::kBFloat16}) {
        const auto x = torch::rand({4, 4});
        const auto there = x.to(cuda1, dtype);
        const auto product = there.matmul(there);
        CHECK(product.scalar_type() == dtype);
        CHECK(product.device() == cuda1);
        CHECK(at::allclose(product.cpu().to(torch::kFloat), x.matmul(x), 0.05, 0.05));
        auto changed = there.clone();
        changed.sigmoid_();
        CHECK(changed.scalar_type() == dtype);
        CHECK(at::allclose(changed.cpu().to(torch::kFloat), x.sigmoid(), 0.05, 0.05));
        auto out = torch::empty({0}, torch::TensorOptions(cuda1).dtype(dtype));
        torch::mm_out(out, there, there);
        CHECK(out.sizes() == at::IntArrayRef({4, 4}));
        CHECK(out.cpu().equal(product.cpu()));
    }
}

namespace {

void set_autocast(bool enabled) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(at::kCUDA, enabled);
#else
    at::autocast::set_enabled(enabled);
#endif
}

} // namespace

TEST_CASE("autocast has matrix products of a device in half precision (simulated)") {
    started();
    torch::nn::Linear layer(4, 3);
    layer->to(cuda1);
    const auto x = torch::rand({2, 4}, cuda1);
    set_autocast(true);
    const auto y = layer(x);
    at::autocast::clear_cache();
    set_autocast(false);
    CHECK(y.scalar_type() == torch::kHalf);
    CHECK(y.device() == cuda1);
    y.sum().backward();
    CHECK(layer->weight.grad().scalar_type() == torch::kFloat);
    CHECK(layer->weight.grad().device() == cuda1);
}

TEST_CASE("sparse tensors live on a device (simulated)") {
    started();
    const auto dense = torch::rand({4, 5}) * (torch::rand({4, 5}) > 0.5);
    const auto there = dense.to_sparse().to(cuda1);
    CHECK(there.is_sparse());
    CHECK(there.device() == cuda1);
    CHECK(there._values().device() == cuda1);
    CHECK(there.to_dense().device() == cuda1);
    CHECK(there.to_dense().cpu().equal(dense));
    CHECK(same(torch::mm(there, torch::ones({5, 2}, cuda1)), dense.mm(torch::ones({5, 2}))));
    CHECK(dense.to(cuda1).to_sparse().coalesce().cpu().to_dense().equal(dense));
    CHECK(same((there + there).to_dense(), dense * 2));
}

TEST_CASE("compressed sparse tensors live on a device in every layout (simulated)") {
    started();
    const auto dense = torch::arange(1., 25.).reshape({4, 6}) * (torch::arange(24).reshape({4, 6}) % 3 == 0);
    const std::vector<at::Tensor> on_cpu{dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_bsr({2, 2}),
                                         dense.to_sparse_bsc({2, 2})};
    const auto on_device = dense.to(cuda1);
    const std::vector<at::Tensor> made{on_device.to_sparse_csr(), on_device.to_sparse_csc(),
                                       on_device.to_sparse_bsr({2, 2}), on_device.to_sparse_bsc({2, 2})};
    for (std::size_t at = 0; at < on_cpu.size(); ++at) {
        INFO(on_cpu[at].layout());
        // libtorch 1.13 copies the others nowhere, not on the CPU either.
        const bool copied = TORCH_VERSION_MAJOR > 1 || on_cpu[at].layout() == at::kSparseCsr;
        for (const auto& there : {made[at], copied ? on_cpu[at].to(cuda1) : made[at]}) {
            CHECK(there.layout() == on_cpu[at].layout());
            CHECK(there.device() == cuda1);
            CHECK(there.values().device() == cuda1);
            CHECK(there.values().cpu().equal(on_cpu[at].values()));
            CHECK(there.to_dense().device() == cuda1);
            CHECK(there.to_dense().cpu().equal(dense));
            CHECK(there.clone().device() == cuda1);
            if (!copied) continue;
            CHECK(there.to(cuda0).device() == cuda0);
            CHECK(there.to(torch::kDouble).values().dtype() == torch::kDouble);
            const auto back = there.cpu();
            CHECK(back.is_cpu());
            CHECK(back.values().is_cpu());
            CHECK(back.layout() == on_cpu[at].layout());
            CHECK(back.to_dense().equal(dense));
        }
    }
    // And on the CPU they are copied as before.
    CHECK(torch::eye(2).to_sparse_csr().to(torch::kDouble).to_dense().equal(torch::eye(2, torch::kDouble)));
}

TEST_CASE("a compressed sparse tensor made of parts on a device is one (simulated)") {
    started();
    const auto rows = torch::tensor({0, 1, 2}, torch::kLong).to(cuda1);
    const auto columns = torch::tensor({1, 0}, torch::kLong).to(cuda1);
    const auto values = torch::tensor({3.F, 4.F}).to(cuda1);
    const auto made = torch::sparse_csr_tensor(rows, columns, values, {2, 2}, cuda1);
    CHECK(made.device() == cuda1);
    CHECK(made.crow_indices().device() == cuda1);
    CHECK(made.col_indices().cpu().equal(torch::tensor({1, 0}, torch::kLong)));
    CHECK(made.to_dense().cpu().equal(torch::tensor({{0.F, 3.F}, {4.F, 0.F}})));

    // What is said of its parts is done to it, and the other way round.
    made.values().mul_(2);
    CHECK(made.to_dense().cpu().equal(torch::tensor({{0.F, 6.F}, {8.F, 0.F}})));
    auto copy = torch::zeros({2, 2}, cuda1).to_sparse_csr();
    copy.resize_as_sparse_(made);
    copy.copy_(made);
    CHECK(copy.values().device() == cuda1);
    CHECK(copy.to_dense().cpu().equal(made.to_dense().cpu()));
}

TEST_CASE("compressed sparse tensors are computed with and differentiated on a device (simulated)") {
    started();
    const auto dense = torch::tensor({{0.F, 3.F}, {4.F, 0.F}});
    const auto there = dense.to_sparse_csr().to(cuda1);
    auto x = torch::ones({2, 3}, cuda1).requires_grad_();
    const auto y = there.matmul(x);
    CHECK(y.device() == cuda1);
    CHECK(y.detach().cpu().equal(dense.matmul(torch::ones({2, 3}))));
    y.sum().backward();
    CHECK(x.grad().device() == cuda1);
    CHECK(x.grad().cpu().equal(torch::tensor({{4.F, 4.F, 4.F}, {3.F, 3.F, 3.F}})));
    CHECK((there * 2).to_dense().cpu().equal(dense * 2));
    CHECK(there.sin().device() == cuda1);

    refuses_mixed([&] { there.matmul(torch::ones({2, 3}, cuda0)); });
    refuses_mixed([&] { there.matmul(torch::ones({2, 3})); });
}

TEST_CASE("the memory of a compressed sparse tensor is counted where it is (simulated)") {
    started();
    const auto usage = [](std::uint32_t device) { return soma_simcuda()->allocated_bytes(device); };
    const auto before = std::pair(usage(0), usage(1));
    const auto eye = torch::eye(64).to_sparse_csr();
    {
        const auto there = eye.to(cuda1);
        CHECK(usage(0) == before.first);
        CHECK(usage(1) >= before.second + 64 * (4 + 8) + 65 * 8); // values, columns and rows
    }
    CHECK(usage(1) == before.second);
}

TEST_CASE("tensors of kinds that are not held are refused by name (simulated)") {
    started();
    const auto there = torch::rand({4, 4}, cuda1);
    CHECK(message([&] { torch::quantize_per_tensor(there, 0.1, 0, torch::kQInt8); }) ==
          "`aten::quantize_per_tensor` has to do with a quantised tensor, and simulated cuda:1 holds dense and sparse "
          "tensors only");
    CHECK(message([&] {
              torch::quantize_per_tensor(torch::rand({2}), 0.1, 0, torch::kQInt8).to(cuda1);
          }).find("simulated cuda devices hold dense and sparse tensors only") != std::string::npos);
}

TEST_CASE("an operator that the CPU has no kernel for is refused by name (simulated)") {
    started();
    CHECK(message([] {
              torch::batch_norm_stats(torch::rand({2, 3}, cuda1), 0.1);
          }) == "`aten::batch_norm_stats` cannot run on simulated cuda:1: libtorch has no CPU kernel for it");
}

TEST_CASE("inference tensors work on a device (simulated)") {
    started();
    at::Tensor made;
    {
        const c10::InferenceMode guard;
        made = torch::rand({3}, cuda1);
        CHECK(made.is_inference());
        CHECK((made + 1).is_inference());
        CHECK(made.view({3, 1}).is_inference());
        made.add_(1);
    }
    CHECK((made * 2).device() == cuda1);
    CHECK(message([&] { made.add_(1); }).find("Inplace update to inference tensor outside InferenceMode") == 0);
}

// --- Randomness ---

TEST_CASE("a seed gives the same numbers again on each device (simulated)") {
    started();
    const auto draw = [](c10::Device device) {
        const auto options = torch::TensorOptions(device);
        return std::vector<at::Tensor>{torch::rand({4}, options),
                                       torch::randn({4}, options),
                                       torch::randint(100, {4}, options),
                                       torch::randperm(9, options.dtype(torch::kLong)),
                                       torch::rand_like(torch::empty({4}, options)),
                                       torch::bernoulli(torch::full({9}, 0.5f, options)),
                                       torch::multinomial(torch::ones({9}, options), 3),
                                       torch::dropout(torch::ones({9}, options), 0.5, true),
                                       torch::normal(0.0, 1.0, {4}, c10::nullopt, options)};
    };
    for (const auto device : {cuda0, cuda1}) {
        torch::manual_seed(17);
        const auto first = draw(device);
        const auto more = draw(device);
        torch::manual_seed(17);
        const auto again = draw(device);
        for (std::size_t at = 0; at < first.size(); ++at) {
            INFO(at);
            CHECK(first[at].device() == device);
            CHECK(first[at].equal(again[at]));
        }
        CHECK_FALSE(first[0].equal(more[0]));
        CHECK_FALSE(first[3].equal(more[3]));
    }
}

TEST_CASE("each device has a generator of its own (simulated)") {
    started();
    torch::manual_seed(3);
    const auto on1 = torch::rand({4}, cuda1);
    torch::manual_seed(3);
    torch::rand({100}, cuda0);
    torch::rand({100});
    CHECK(torch::rand({4}, cuda1).equal(on1));
    torch::manual_seed(3);
    CHECK(torch::rand({4}).equal(on1.cpu())); // and a seed gives on a device what it gives on the CPU
}

TEST_CASE("a generator of a device can be given (simulated)") {
    started();
    auto generator = at::globalContext().defaultGenerator(cuda1).clone();
    CHECK(generator.device() == cuda1);
    generator.set_current_seed(5);
    CHECK(generator.current_seed() == 5);
    const auto state = generator.get_state();
    const auto first = torch::rand({4}, generator, cuda1);
    CHECK_FALSE(torch::rand({4}, generator, cuda1).equal(first));
    generator.set_state(state);
    CHECK(torch::rand({4}, generator, cuda1).equal(first));
    CHECK(message([&] { torch::rand({4}, at::detail::getDefaultCPUGenerator(), cuda1); }) ==
          "Expected a 'cuda' device type for generator but found 'cpu'");
}

// --- Autograd, modules, optimisers ---

TEST_CASE("backward crosses devices and each leaf has its gradient beside it (simulated)") {
    started();
    const auto on0 = torch::ones({3}, torch::TensorOptions(cuda0).requires_grad(true));
    const auto on1 = torch::ones({3}, torch::TensorOptions(cuda1).requires_grad(true));
    const auto host = torch::ones({3}, torch::requires_grad());
    ((on0 * host.to(cuda0)).to(cuda1) * on1 * 2).cpu().sum().backward();
    CHECK(on0.grad().device() == cuda0);
    CHECK(on1.grad().device() == cuda1);
    CHECK(host.grad().device() == cpu);
    for (const auto& leaf : {on0, on1, host}) CHECK(leaf.grad().cpu().equal(torch::full({3}, 2.0f)));
}

TEST_CASE("autograd works for each device on a thread of that device (simulated)") {
    started();
    std::mutex mutex;
    std::map<c10::Device, std::set<std::thread::id>, bool (*)(const c10::Device&, const c10::Device&)> threads(
        [](const c10::Device& left, const c10::Device& right) { return left.index() < right.index(); });
    std::vector<c10::Device> current;
    const auto watch = [&](const at::Tensor& tensor, c10::Device device) {
        tensor.register_hook([&, device](const at::Tensor& gradient) {
            const std::lock_guard lock(mutex);
            threads[device].insert(std::this_thread::get_id());
            current.push_back(torch::empty({1}, torch::kCUDA).device());
            current.push_back(gradient.device());
        });
    };
    const auto leaf = torch::ones({3}, torch::TensorOptions(cuda0).requires_grad(true));
    const auto doubled = leaf * 2;
    watch(doubled, cuda0);
    const auto moved = doubled.to(cuda1) * 3;
    watch(moved, cuda1);
    moved.sum().backward();
    REQUIRE(threads[cuda0].size() == 1);
    REQUIRE(threads[cuda1].size() == 1);
    CHECK(*threads[cuda0].begin() != *threads[cuda1].begin());
    CHECK(threads[cuda0].count(std::this_thread::get_id()) == 0);
    const std::vector<c10::Device> expected = {cuda1, cuda1, cuda0, cuda0};
    CHECK((current == expected));
}

TEST_CASE("modules move with their parameters and buffers and keep their identity (simulated)") {
    started();
    torch::nn::Sequential net(torch::nn::Conv1d(2, 3, 3), torch::nn::BatchNorm1d(3), torch::nn::Linear(6, 4));
    std::vector<c10::TensorImpl*> before;
    for (const auto& parameter : net->parameters()) before.push_back(parameter.unsafeGetTensorImpl());
    const auto x = torch::rand({5, 2, 8});
    net->eval();
    const auto expected = net->forward(x);
    for (const auto device : {cuda0, cuda1, cpu}) {
        net->to(device);
        std::size_t at = 0;
        for (const auto& parameter : net->parameters()) {
            CHECK(parameter.device() == device);
            CHECK(parameter.unsafeGetTensorImpl() == before[at++]);
        }
        for (const auto& buffer : net->buffers()) CHECK(buffer.device() == device);
        CHECK(same(net->forward(x.to(device)), expected));
    }
    net->to(cuda1, torch::kDouble);
    CHECK(net->parameters()[0].scalar_type() == torch::kDouble);
}

namespace {

template <class Optimizer, class Options>
std::vector<float> losses(c10::Device first, c10::Device second, const Options& options) {
    torch::manual_seed(8);
    torch::nn::Linear one(4, 8);
    torch::nn::Linear two(8, 2);
    const auto x = torch::rand({16, 4});
    const auto target = torch::rand({16, 2});
    one->to(first);
    two->to(second);
    auto parameters = one->parameters();
    for (const auto& parameter : two->parameters()) parameters.push_back(parameter);
    Optimizer optimizer(parameters, options);
    std::vector<float> seen;
    for (int step = 0; step < 20; ++step) {
        optimizer.zero_grad();
        const auto y = two(torch::tanh(one(x.to(first))).to(second));
        const auto loss = torch::mse_loss(y, target.to(second));
        loss.backward();
        torch::nn::utils::clip_grad_norm_(one->parameters(), 10);
        optimizer.step();
        CHECK(one->weight.grad().device() == first);
        CHECK(two->weight.grad().device() == second);
        seen.push_back(loss.template item<float>());
    }
    return seen;
}

template <class Optimizer, class Options>
void trains_alike(const Options& options) {
    const auto host = losses<Optimizer>(cpu, cpu, options);
    const auto devices = losses<Optimizer>(cuda0, cuda1, options);
    REQUIRE(host.size() == devices.size());
    for (std::size_t at = 0; at < host.size(); ++at) CHECK(devices[at] == Approx(host[at]).epsilon(1e-5));
    CHECK(host.back() < host.front());
}

} // namespace

TEST_CASE("two layers on two devices train to the losses of the CPU (simulated)") {
    started();
    trains_alike<torch::optim::SGD>(torch::optim::SGDOptions(0.1).momentum(0.9));
    trains_alike<torch::optim::Adam>(torch::optim::AdamOptions(0.05));
    trains_alike<torch::optim::AdamW>(torch::optim::AdamWOptions(0.05));
    trains_alike<torch::optim::RMSprop>(torch::optim::RMSpropOptions(0.01));
    trains_alike<torch::optim::Adagrad>(torch::optim::AdagradOptions(0.05));
}

namespace {

/// The output and the gradients of a module, on the CPU, for one forward and backward on a device.
template <class Module, class Forward>
std::vector<at::Tensor> trained_once(Module module, c10::Device device, Forward forward) {
    for (const auto& parameter : module->parameters()) parameter.mutable_grad().reset();
    module->to(device);
    auto y = forward(module, device);
    CHECK(y.device() == device);
    y.pow(2).sum().backward();
    std::vector<at::Tensor> all = {y.detach().cpu()};
    for (const auto& parameter : module->parameters()) {
        if (!parameter.grad().defined()) continue;
        CHECK(parameter.grad().device() == device);
        all.push_back(parameter.grad().to(torch::kFloat).cpu().clone());
    }
    return all;
}

template <class Module, class Forward>
void learns_alike(Module module, Forward forward) {
    const auto host = trained_once(module, cpu, forward);
    const auto there = trained_once(module, cuda1, forward);
    REQUIRE(host.size() == there.size());
    REQUIRE(host.size() > 1);
    for (std::size_t at = 0; at < host.size(); ++at) {
        INFO(at);
        CHECK(at::allclose(host[at], there[at], 1e-4, 1e-5));
    }
}

} // namespace

TEST_CASE("recurrent layers compute and learn as on the CPU (simulated)") {
    started();
    const auto x = torch::rand({5, 3, 4});
    const auto output = [x](auto& module, c10::Device device) { return std::get<0>(module(x.to(device))); };
    learns_alike(torch::nn::LSTM(torch::nn::LSTMOptions(4, 6).num_layers(2).bidirectional(true)), output);
    learns_alike(torch::nn::GRU(torch::nn::GRUOptions(4, 6).num_layers(2)), output);
    learns_alike(torch::nn::RNN(torch::nn::RNNOptions(4, 6)), output);
    const auto packed = [x](auto& module, c10::Device device) {
        const auto lengths = torch::tensor({5, 4, 2});
        const auto sequence = torch::nn::utils::rnn::pack_padded_sequence(x.to(device), lengths);
        CHECK(sequence.batch_sizes().device() == cpu);
        const auto result = std::get<0>(module->forward_with_packed_input(sequence));
        return std::get<0>(torch::nn::utils::rnn::pad_packed_sequence(result));
    };
    learns_alike(torch::nn::LSTM(torch::nn::LSTMOptions(4, 6)), packed);
}

TEST_CASE("convolutions and embeddings compute and learn as on the CPU (simulated)") {
    started();
    const auto image = torch::rand({2, 4, 9, 9});
    const auto filtered = [image](auto& module, c10::Device device) { return module(image.to(device)); };
    learns_alike(torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 6, 3).padding(1)), filtered);
    learns_alike(torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 8, 3).groups(4)), filtered);
    learns_alike(torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 6, 3).dilation(2).stride(2)), filtered);
    learns_alike(torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(4, 6, 3)), filtered);
    learns_alike(torch::nn::BatchNorm2d(4), filtered);
    const auto words = torch::tensor({{1, 2, 3}, {4, 5, 1}});
    const auto looked_up = [words](auto& module, c10::Device device) { return module(words.to(device)); };
    learns_alike(torch::nn::Embedding(6, 4), looked_up);
    learns_alike(torch::nn::EmbeddingBag(6, 4), looked_up);
}

TEST_CASE("transformer layers compute and learn as on the CPU (simulated)") {
    started();
    const auto x = torch::rand({5, 2, 8});
    learns_alike(torch::nn::TransformerEncoderLayer(torch::nn::TransformerEncoderLayerOptions(8, 2).dropout(0)),
                 [x](auto& module, c10::Device device) { return module(x.to(device)); });
}

#if TORCH_VERSION_MAJOR >= 2
TEST_CASE("attention computes and learns as on the CPU (simulated)") {
    started();
    const auto q = torch::rand({2, 2, 5, 8});
    for (const bool causal : {false, true}) {
        const auto on = [&](c10::Device device) {
            const auto leaf = q.to(device).detach().requires_grad_();
            const auto y = at::scaled_dot_product_attention(leaf, leaf, leaf, {}, 0.0, causal);
            CHECK(y.device() == device);
            y.pow(2).sum().backward();
            return std::pair(y.detach().cpu(), leaf.grad().cpu());
        };
        const auto host = on(cpu);
        const auto there = on(cuda1);
        CHECK(at::allclose(host.first, there.first, 1e-4, 1e-5));
        CHECK(at::allclose(host.second, there.second, 1e-4, 1e-5));
    }
}
#endif

// --- Storing and loading ---

TEST_CASE("pickled tensors come back on their device (simulated)") {
    started();
    const auto x = torch::rand({3, 4});
    const auto there = x.to(cuda1);
    const auto loaded = torch::pickle_load(torch::pickle_save(there)).toTensor();
    CHECK(loaded.device() == cuda1);
    CHECK(loaded.cpu().equal(x));
    const auto part = torch::pickle_load(torch::pickle_save(there.t()[1])).toTensor();
    CHECK(part.cpu().equal(x.t()[1]));
}

TEST_CASE("saved tensors and modules come back on a device (simulated)") {
    started();
    std::stringstream stream;
    const auto x = torch::rand({3, 4});
    torch::save(x.to(cuda1), stream);
    at::Tensor loaded;
    torch::load(loaded, stream);
    CHECK(loaded.device() == cuda1);
    CHECK(loaded.cpu().equal(x));

    torch::nn::Linear saved(4, 3);
    saved->to(cuda0);
    std::stringstream archive;
    torch::save(saved, archive);
    torch::nn::Linear restored(4, 3);
    torch::load(restored, archive, cuda1);
    CHECK(same(saved->weight, restored->weight));
}

TEST_CASE("TorchScript modules load onto a device and run there (simulated)") {
    started();
    torch::jit::Module module("Affine");
    module.register_parameter("weight", torch::rand({4, 4}), false);
    module.register_buffer("offset", torch::rand({4}));
    module.define(R"(
def forward(self, x):
    y = torch.relu(x @ self.weight + self.offset)
    for i in range(3):
        y = torch.sigmoid(y * 2 + 1) - torch.tanh(y)
    if y.device.type == "cuda":
        y = y * 1.0
    return y
)");
    const auto x = torch::rand({2, 4});
    const auto expected = module.forward({x}).toTensor();
    std::stringstream stream;
    module.save(stream);
    auto loaded = torch::jit::load(stream, cuda1);
    for (const auto& parameter : loaded.parameters()) CHECK(parameter.device() == cuda1);
    for (const auto& buffer : loaded.buffers()) CHECK(buffer.device() == cuda1);
    // Often enough that it would be profiled and fused.
    for (int time = 0; time < 5; ++time) {
        const auto y = loaded.forward({x.to(cuda1)}).toTensor();
        CHECK(y.device() == cuda1);
        CHECK(same(y, expected));
    }
    const auto leaf = x.to(cuda1).requires_grad_();
    for (int time = 0; time < 5; ++time) loaded.forward({leaf}).toTensor().sum().backward();
    CHECK(leaf.grad().device() == cuda1);
    std::stringstream moved;
    loaded.save(moved);
    CHECK(torch::jit::load(moved).attr("weight").toTensor().device() == cuda1);
    CHECK(torch::jit::load(moved, cpu).attr("weight").toTensor().device() == cpu);
}

TEST_CASE("DLPack names the simulated device (simulated)") {
    started();
    const auto x = torch::rand({3, 4});
    auto* const managed = at::toDLPack(x.to(cuda1));
    CHECK(managed->dl_tensor.device.device_type == kDLCUDA);
    CHECK(managed->dl_tensor.device.device_id == 1);
    const auto back = at::fromDLPack(managed);
    CHECK(back.device() == cuda1);
    CHECK(back.cpu().equal(x));
}

// --- Streams and threads ---

TEST_CASE("each thread has a current stream of each device and every stream has done its work (simulated)") {
    started();
    const auto guard = c10::impl::VirtualGuardImpl(c10::kCUDA);
    const auto stream = guard.getStream(cuda1);
    CHECK(stream.device() == cuda1);
    CHECK(stream == guard.getDefaultStream(cuda1));
    const auto other = guard.getStreamFromGlobalPool(cuda1);
    CHECK(other.device() == cuda1);
    CHECK(other != stream);
    CHECK(guard.exchangeStream(other) == stream);
    CHECK(guard.getStream(cuda1) == other);
    CHECK(guard.getStream(cuda0) == guard.getDefaultStream(cuda0));
    std::thread([&] { CHECK(guard.getStream(cuda1) == stream); }).join();
    const auto leaf = torch::ones({3}, torch::TensorOptions(cuda1).requires_grad(true));
    (leaf * 2).sum().backward();
    CHECK(leaf.grad().cpu().equal(torch::full({3}, 2.0f)));
    CHECK(guard.exchangeStream(stream) == other);
    CHECK(guard.getStream(cuda1) == stream);
    CHECK(other.query());
    other.synchronize();
    c10::Event event(c10::kCUDA);
    event.record(other);
    event.block(stream);
    CHECK(event.query());
    CHECK(event.was_marked_for_recording());
    torch::cuda::synchronize(1);
}

TEST_CASE("threads use their devices beside each other (simulated)") {
    const auto& api = started();
    std::vector<std::thread> threads;
    std::vector<float> sums(8);
    for (std::size_t at = 0; at < sums.size(); ++at) {
        threads.emplace_back([&, at] {
            const auto device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(at % 4));
            const c10::DeviceGuard guard(device);
            auto leaf = torch::ones({16, 16}, torch::TensorOptions(torch::kCUDA).requires_grad(true));
            for (int step = 0; step < 50; ++step) {
                auto y = leaf.matmul(leaf).relu();
                y.sum().backward();
                if (leaf.grad().device() != device) return;
                leaf.mutable_grad().zero_();
                y = y.detach().view({256}).narrow(0, 0, 16);
                sums[at] += y.sum().item<float>();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (const auto sum : sums) CHECK(sum == 50 * 256);
    for (std::uint32_t device = 0; device < 4; ++device) CHECK(api.allocations(device) > 0);
}

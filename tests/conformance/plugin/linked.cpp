// SPDX-License-Identifier: Apache-2.0
//
// A plugin that links libtorch: its nodes reach what no other plugin's can, and leave it changed.
#include <functional>
#include <map>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include <soma/sdk.h>
#include <soma/sdk/torch.h>

namespace linked {

using namespace soma::sdk;

void switch_autocast_on() {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_enabled(at::kCUDA, true);
#else
    at::autocast::set_cpu_enabled(true);
    at::autocast::set_enabled(true);
#endif
}

void enter_inference_mode_for_good() {
    const auto inside = [] {
        const c10::InferenceMode guard;
        return at::ThreadLocalState();
    };
    at::ThreadLocalState::setThreadLocalState(inside());
}

c10::impl::VirtualGuardImpl cuda() { return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA); }

const std::map<std::string, std::function<void()>, std::less<>>& changes() {
    static const std::map<std::string, std::function<void()>, std::less<>> all{
        {"no grad", [] { at::GradMode::set_enabled(false); }},
        {"inference mode", enter_inference_mode_for_good},
        {"autocast", switch_autocast_on},
        {"default dtype", [] { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }},
        {"threads", [] { at::set_num_threads(3); }},
        {"device", [] { cuda().setDevice(c10::Device(c10::kCUDA, 1)); }},
        {"stream", [] { cuda().exchangeStream(cuda().getStreamFromGlobalPool(cuda().getDevice())); }},
    };
    return all;
}

/// Changes the thread's state in one way and leaves it so; gives its input, or fails.
class Change : public Node {
public:
    static NodeType describe() {
        return NodeType{"linked.change"}
            .doc("Changes what it should leave alone.")
            .config(String("what").required())
            .config(Bool("fail").defaults(false))
            .reentrant();
    }
    explicit Change(const Create& create)
        : Node{create}, what_{create.config().get_string("what")}, fail_{create.config().get_bool("fail")} {}
    Value forward(const Ctx&, Value input) {
        changes().at(what_)();
        if (fail_) throw Error{Code::unavailable, "left it like this"};
        return input;
    }

private:
    std::string what_;
    bool fail_;
};

/// Writes to the tensor that it was lent, which the host cannot prevent; gives it.
class Write : public Node {
public:
    static NodeType describe() {
        return NodeType{"linked.write"}.doc("Writes to its input.").config(Bool("view").defaults(false)).reentrant();
    }
    explicit Write(const Create& create) : Node{create}, view_{create.config().get_bool("view")} {}
    Value forward(const Ctx&, Value input) {
        const at::Tensor lent = to_torch(input).detach();
        if (view_) {
            lent.narrow(0, 0, 1).mul_(2);
        } else {
            lent.add_(1);
        }
        return input;
    }

private:
    bool view_;
};

} // namespace linked

SOMA_PLUGIN(soma::sdk::Plugin("linked", "1.0.0").doc("Nodes that link libtorch."), linked::Change, linked::Write)

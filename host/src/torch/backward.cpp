// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/variable.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compat.h"
#include "dtype.h"
#include "engine_table.h"
#include "failure.h"
#include "places.h"
#include "soma/detail/status.h"
#include "soma/error.h"
#include "values.h"

namespace soma::detail {

namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::variable_list;

// Graph nodes are freed by libtorch's own rule, which does not recurse through a long graph.
template <typename Node, typename... Args>
auto make_node(Args&&... args) {
#if SOMA_TORCH_INTRUSIVE_NODES
    return c10::make_intrusive<Node>(std::forward<Args>(args)...);
#else
    return std::shared_ptr<Node>(std::make_unique<Node>(std::forward<Args>(args)...).release(),
                                 torch::autograd::deleteNode);
#endif
}

/// Whoever supplied the backward; released once, when nothing can call it any more.
class Owner {
public:
    explicit Owner(const BackwardCall& call) noexcept : call_(call) {}
    Owner(Owner&& other) noexcept : call_(std::exchange(other.call_, BackwardCall{})) {}
    Owner& operator=(Owner&&) = delete;
    ~Owner() {
        if (call_.release != nullptr) call_.release(call_.owner);
    }

    [[nodiscard]] const char* node() const noexcept { return call_.node; }
    [[nodiscard]] Value run(const Value& saved, const Value& grads) const {
        soma_value* out = nullptr;
        if (soma_status* status = call_.run(call_.owner, saved.handle(), grads.handle(), &out)) {
            const std::string why = full_message(status);
            release_status(status);
            throw Error(fmt::format("node `{}` failed in its backward: {}", call_.node, why));
        }
        return Value::adopt(out);
    }

private:
    BackwardCall call_;
};

/// What a gradient must look like: like the tensor it is for.
struct Shape {
    std::vector<std::int64_t> sizes;
    c10::ScalarType type;
    soma_place place;

    explicit Shape(const at::Tensor& tensor)
        : sizes(tensor.sizes().vec()), type(tensor.scalar_type()), place(to_place(tensor.device())) {}

    [[nodiscard]] bool fits(const at::Tensor& tensor) const {
        return tensor.sizes() == at::IntArrayRef(sizes) && tensor.scalar_type() == type &&
               same_place(to_place(tensor.device()), place);
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{}[{}] on `{}`", dtype_name(static_cast<int>(type)), fmt::join(sizes, ", "),
                           place_name(place));
    }
};

/// A tensor that forward saved, with the number of writes to it then.
struct Saved {
    at::Tensor tensor;
    std::int64_t version;
};

std::vector<Saved> versions_in(const Value& saved) {
    std::vector<Saved> found;
    each_tensor(saved, [&](const at::Tensor& tensor) {
        if (!tensor.is_inference()) found.push_back({tensor, tensor._version()});
    });
    return found;
}

/// The graph node of a custom backward.
class CustomBackward final : public torch::autograd::Node {
public:
    CustomBackward(Owner owner, Value saved, std::vector<Shape> shapes, edge_list edges)
        : Node(std::move(edges)), owner_(std::move(owner)), saved_(std::move(saved)), versions_(versions_in(saved_)),
          shapes_(std::move(shapes)) {}

    [[nodiscard]] std::string name() const override { return fmt::format("backward of node `{}`", owner_.node()); }

    void release_variables() override {
        const std::lock_guard lock(mutex_);
        saved_ = Value();
        versions_.clear();
        released_ = true;
    }

    variable_list apply(variable_list&& grads) override {
        const Value saved = take_saved();
        const Value list = detached(grads);
        const bool differentiable = c10::GradMode::is_enabled();
        const Value given = [&] {
            // It computes with raw memory, of which autograd sees nothing.
            const c10::AutoGradMode no_grad(false);
            return owner_.run(saved, list);
        }();
        variable_list result = checked(given);
        return differentiable ? refusing_another(std::move(result), grads) : result;
    }

private:
    Value take_saved() {
        const std::lock_guard lock(mutex_);
        if (released_) {
            throw Error(fmt::format("node `{}` cannot go backward a second time: what it saved was freed by the first; "
                                    "retain the graph in the first call",
                                    owner_.node()));
        }
        for (const Saved& saved : versions_) {
            if (saved.tensor._version() != saved.version) {
                throw Error(fmt::format("node `{}` cannot go backward: a tensor that its forward saved was modified in "
                                        "place since (version {}, saved at {})",
                                        owner_.node(), saved.tensor._version(), saved.version));
            }
        }
        return saved_;
    }

    static Value detached(const variable_list& grads) {
        std::vector<Value> items;
        items.reserve(grads.size());
        for (const at::Tensor& grad : grads) {
            items.push_back(grad.defined() ? Value::adopt(give(grad.detach())) : Value());
        }
        return Value::list(std::move(items));
    }

    [[nodiscard]] variable_list checked(const Value& given) const {
        const std::size_t count = shapes_.size();
        if (given.kind() != Kind::list || given.size() != count) {
            const std::string got = given.kind() == Kind::list
                                        ? fmt::format("a list of {}", given.size())
                                        : std::string(kind_with_article(static_cast<std::uint32_t>(given.kind())));
            throw Error(
                fmt::format("the backward of node `{}` must give a list of {} gradient{}, one for each tensor of "
                            "its input and each parameter, and gave {}",
                            owner_.node(), count, count == 1 ? "" : "s", got));
        }
        variable_list result(count);
        for (std::size_t i = 0; i < count; ++i) {
            const Value& item = given.at(i);
            if (item.is_none()) continue;
            if (item.kind() != Kind::tensor) {
                throw Error(fmt::format("the backward of node `{}` gave {} as gradient {}, where a tensor or none goes",
                                        owner_.node(), kind_with_article(static_cast<std::uint32_t>(item.kind())), i));
            }
            const at::Tensor& grad = tensor_of(item.handle());
            if (!shapes_[i].fits(grad)) {
                throw Error(fmt::format("the backward of node `{}` gave {} as gradient {}, which is for {}",
                                        owner_.node(), Shape(grad).text(), i, shapes_[i].text()));
            }
            if (task_should_compute_output(i)) result[i] = grad;
        }
        return result;
    }

    // Under create_graph the gradients are to be differentiable themselves, which these are not: they lead to an error
    // that says so, and only if somebody does differentiate them.
    [[nodiscard]] variable_list refusing_another(variable_list result, const variable_list& grads) const {
        edge_list edges = next_edges();
        for (const at::Tensor& grad : grads) {
            edges.push_back(grad.defined() && grad.requires_grad() ? torch::autograd::impl::gradient_edge(grad)
                                                                   : Edge());
        }
        auto refusal = make_node<torch::autograd::Error>(
            fmt::format("node `{}` cannot be differentiated twice: its backward computes with raw memory, of which "
                        "autograd sees nothing",
                        owner_.node()),
            std::move(edges));
        for (at::Tensor& grad : result) {
            if (!grad.defined()) continue;
            grad = grad.detach();
            torch::autograd::impl::set_gradient_edge(grad, {refusal, refusal->add_input_metadata(grad)});
        }
        return result;
    }

    Owner owner_;
    Value saved_;
    std::vector<Saved> versions_;
    std::vector<Shape> shapes_;
    bool released_ = false;
};

bool is_differentiable(const at::Tensor& tensor) { return tensor.is_floating_point() || tensor.is_complex(); }

// The result with every tensor of it replaced by what `replace` says; what stays the same is shared.
template <typename Replace>
Value rebuilt(const Value& value, Replace&& replace) {
    if (value.kind() == Kind::tensor) return replace(value);
    if (value.kind() == Kind::list) {
        std::vector<Value> items;
        items.reserve(value.size());
        for (std::size_t i = 0; i < value.size(); ++i) items.push_back(rebuilt(value.at(i), replace));
        return Value::list(std::move(items));
    }
    if (value.kind() == Kind::dict) {
        std::vector<std::pair<std::string, Value>> entries;
        entries.reserve(value.size());
        for (std::size_t i = 0; i < value.size(); ++i) {
            entries.emplace_back(std::string(value.key(i)), rebuilt(value.at(i), replace));
        }
        return Value::dict(std::move(entries));
    }
    return value;
}

Value attach(Owner owner, const Value& saved, const Value& inputs, const Value& result) {
    if (!c10::GradMode::is_enabled()) return result;
    bool wanted = false;
    edge_list edges;
    std::vector<Shape> shapes;
    each_tensor(inputs, [&](const at::Tensor& input) {
        wanted = wanted || input.requires_grad();
        edges.push_back(input.requires_grad() ? torch::autograd::impl::gradient_edge(input) : Edge());
        shapes.emplace_back(input);
    });
    if (!wanted) return result;
    bool any = false;
    each_tensor(result, [&](const at::Tensor& tensor) {
        const bool attachable = is_differentiable(tensor) && tensor.grad_fn() == nullptr;
        if (attachable && tensor.is_inference()) {
            throw Failure(SOMA_FAILED_PRECONDITION,
                          "it returned a tensor made under inference mode, to which its backward cannot be attached");
        }
        any = any || attachable;
    });
    if (!any) return result;

    auto node = make_node<CustomBackward>(std::move(owner), saved, std::move(shapes), std::move(edges));
    return rebuilt(result, [&](const Value& value) {
        const at::Tensor& tensor = tensor_of(value.handle());
        if (!is_differentiable(tensor) || tensor.grad_fn() != nullptr) {
            node->add_input_metadata(torch::autograd::Node::undefined_input());
            return value;
        }
        // Another tensor over the same memory: this one may be an input, a parameter, or kept by the node, and the one
        // that was saved must not keep the graph node alive that keeps it.
        c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
        at::Tensor attached(
            impl->shallow_copy_and_detach(impl->version_counter(), /*allow_tensor_metadata_change=*/true));
        torch::autograd::impl::set_gradient_edge(attached, {node, node->add_input_metadata(attached)});
        return Value::adopt(give(std::move(attached)));
    });
}

} // namespace

soma_status* engine_attach_backward(const BackwardCall* call, soma_value* saved, soma_value* inputs, soma_value* result,
                                    soma_value** out) noexcept {
    Owner owner(*call);
    return guarded([&] {
        *out = attach(std::move(owner), Value::share(saved), Value::share(inputs), Value::share(result)).release();
    });
}

} // namespace soma::detail

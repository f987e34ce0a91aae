// SPDX-License-Identifier: Apache-2.0
#include "gradients.h"

#include <torch/csrc/autograd/autograd.h>

#include "failure.h"
#include "soma/detail/gradients.h"
#include "soma/value.h"
#include "values.h"

namespace soma::detail {

namespace {

torch::autograd::variable_list tensors_of(soma_value* list) {
    torch::autograd::variable_list tensors;
    each_tensor(Value::share(list), [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
    return tensors;
}

soma_status* gradients_of(soma_value* results, soma_value* weights, soma_value* by, soma_value** out) noexcept {
    return guarded([&] {
        const auto given =
            torch::autograd::grad(tensors_of(results), tensors_of(by), tensors_of(weights), /*retain_graph=*/false,
                                  /*create_graph=*/false, /*allow_unused=*/true);
        std::vector<Value> list;
        list.reserve(given.size());
        for (const at::Tensor& gradient : given) {
            list.push_back(gradient.defined() ? Value::adopt(give(gradient)) : Value());
        }
        *out = Value::list(std::move(list)).release();
    });
}

constexpr Gradients table{sizeof(Gradients), &gradients_of};

} // namespace

const void* engine_gradients() noexcept { return &table; }

} // namespace soma::detail

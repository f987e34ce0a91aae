// SPDX-License-Identifier: Apache-2.0
#include "simcuda/narrow.h"

#include "simcuda/immortal.h"

#include <ATen/Functions.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace soma::simcuda {
namespace {

using c10::IValue;
using c10::ScalarType;

bool is_narrow(ScalarType type) { return type == ScalarType::Half || type == ScalarType::BFloat16; }

/// The first narrow type among an operator's arguments, or Undefined.
ScalarType narrow_type(const IValue* values, std::size_t count) {
    for (const auto* value = values; value != values + count; ++value) {
        if (value->isTensor() && value->toTensor().defined() && is_narrow(value->toTensor().scalar_type())) {
            return value->toTensor().scalar_type();
        }
        if (value->isTensorList()) {
            for (const at::Tensor& tensor : value->toTensorVector()) {
                if (tensor.defined() && is_narrow(tensor.scalar_type())) return tensor.scalar_type();
            }
        }
    }
    return ScalarType::Undefined;
}

/// Which operators were found to have no kernel for a type, so that the error is raised once only.
class Missing {
public:
    bool contains(const c10::OperatorHandle& op, ScalarType type) {
        const std::lock_guard lock(mutex_);
        return known_.count(key(op, type)) != 0;
    }
    void add(const c10::OperatorHandle& op, ScalarType type) {
        const std::lock_guard lock(mutex_);
        known_.insert(key(op, type));
    }

private:
    static std::pair<std::string, ScalarType> key(const c10::OperatorHandle& op, ScalarType type) {
        return {op.schema().name() + "." + op.schema().overload_name(), type};
    }
    std::mutex mutex_;
    std::set<std::pair<std::string, ScalarType>> known_;
};

Missing& missing() {
    static Immortal<Missing> all;
    return *all;
}

/// One call in float in place of a narrow type.
class Widened {
public:
    explicit Widened(ScalarType narrow) : narrow_(narrow) {}

    IValue widen(const IValue& value, bool written) {
        if (value.isTensor()) return widen(value.toTensor(), written);
        if (!value.isTensorList()) return value;
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(widen(tensor, written));
        return list;
    }

    /// Rounds what was written to the arguments.
    void finish() {
        for (auto& pair : pairs_) {
            if (!pair.written) continue;
            if (pair.narrow.sizes() != pair.wide.sizes()) pair.narrow.resize_(pair.wide.sizes());
            pair.narrow.copy_(pair.wide);
        }
    }

    IValue narrow(const IValue& value) {
        if (value.isTensor()) return narrow(value.toTensor());
        if (!value.isTensorList()) return value;
        c10::List<at::Tensor> list;
        for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(narrow(tensor));
        return list;
    }

private:
    struct Pair {
        at::Tensor narrow;
        at::Tensor wide;
        bool written;
    };

    at::Tensor widen(const at::Tensor& tensor, bool written) {
        if (!tensor.defined() || !is_narrow(tensor.scalar_type())) {
            if (tensor.defined()) as_they_are_.push_back(tensor);
            return tensor;
        }
        for (auto& pair : pairs_) {
            if (!pair.narrow.is_same(tensor)) continue;
            pair.written = pair.written || written;
            return pair.wide;
        }
        pairs_.push_back({tensor, tensor.to(ScalarType::Float), written});
        return pairs_.back().wide;
    }

    at::Tensor narrow(const at::Tensor& tensor) {
        if (!tensor.defined() || tensor.scalar_type() != ScalarType::Float) return tensor;
        for (const auto& pair : pairs_) {
            if (pair.wide.is_same(tensor)) return pair.narrow;
        }
        for (const auto& given : as_they_are_) {
            if (given.is_same(tensor)) return tensor;
        }
        return tensor.to(narrow_);
    }

    ScalarType narrow_;
    std::vector<Pair> pairs_;
    std::vector<at::Tensor> as_they_are_;
};

void call_widened(const c10::OperatorHandle& op, torch::jit::Stack* stack, ScalarType type) {
    const auto& parameters = op.schema().arguments();
    const auto begin = stack->size() - parameters.size();
    Widened widened(type);
    for (std::size_t at = 0; at < parameters.size(); ++at) {
        const auto* const alias = parameters[at].alias_info();
        auto& value = (*stack)[begin + at];
        value = widened.widen(value, alias != nullptr && alias->isWrite());
    }
    op.callBoxed(stack);
    widened.finish();
    for (auto value = stack->begin() + static_cast<std::ptrdiff_t>(begin); value != stack->end(); ++value) {
        *value = widened.narrow(*value);
    }
}

} // namespace

void call_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const auto count = op.schema().arguments().size();
    const auto begin = stack->size() - count;
    const auto type = narrow_type(stack->data() + begin, count);
    if (type == ScalarType::Undefined) {
        op.callBoxed(stack);
        return;
    }
    if (!missing().contains(op, type)) {
        const torch::jit::Stack arguments(stack->begin() + static_cast<std::ptrdiff_t>(begin), stack->end());
        try {
            op.callBoxed(stack);
            return;
        } catch (const c10::Error& error) {
            const auto says = std::string("not implemented for '") + c10::toString(type) + "'";
            if (std::string(error.what_without_backtrace()).find(says) == std::string::npos) throw;
        }
        missing().add(op, type);
        stack->resize(begin);
        stack->insert(stack->end(), arguments.begin(), arguments.end());
    }
    call_widened(op, stack, type);
}

} // namespace soma::simcuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/subject.h"
#include "verify/tensors.h"

namespace soma::cli::verify {

/// A tensor of floats that the input holds: its numbers, apart from any tensor.
struct InputTensor {
    std::vector<double> elements;
    std::vector<std::int64_t> shape;
};

/// A node as a function of numbers: those of the tensors in its input and of its parameters. Its value is the sum of the
/// numbers in its result, each with a weight of its own, so that no two errors are likely to cancel out.
class Function {
public:
    /// `dtype` is that of the input's tensors; of parameters, too, where the node takes them. Throws `NodeError` when the
    /// node takes no such input.
    Function(Subject& subject, std::string dtype);

    /// How it is computed: "float64" only if input, parameters and result are.
    [[nodiscard]] const std::string& dtype() const noexcept { return dtype_; }
    /// Why there are no gradients to compare; empty when there are.
    [[nodiscard]] const std::string& unfit() const noexcept { return unfit_; }

    /// The tensors there are gradients by, those of the input first.
    [[nodiscard]] std::size_t size() const noexcept { return inputs_.size() + parameters_.size(); }
    /// "input", "input 1" when there are several, "parameter `weight`".
    [[nodiscard]] std::string name(std::size_t tensor) const;
    [[nodiscard]] std::size_t elements(std::size_t tensor) const;

    /// What autograd gives, by each tensor; none where no gradient leads. Nothing at all when the result carries none.
    [[nodiscard]] std::optional<std::vector<std::optional<std::vector<double>>>> gradients();
    /// The value with `step` times `direction` added to a tensor; both are set back after it.
    [[nodiscard]] double value(std::size_t tensor, const std::vector<std::pair<std::size_t, double>>& direction,
                               double step);

private:
    [[nodiscard]] Value input(bool requires_grad, std::vector<Value>* leaves) const;
    Value run(bool requires_grad, std::vector<Value>* leaves);

    Subject& subject_;
    std::string dtype_;
    std::string unfit_;
    Value template_; ///< the input as it was given
    std::vector<InputTensor> inputs_;
    std::vector<State> parameters_;
    Pipeline pipeline_;
};

} // namespace soma::cli::verify

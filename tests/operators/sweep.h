// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "values.h"

#include <functional>

/// Tries every public operator of the libtorch at hand, each with inputs that the CPU takes.
namespace operators {

using Values = std::vector<c10::IValue>;

/// What differs between a value on the CPU and one on `device`; empty when they agree.
struct Comparison {
    c10::Device device;
    bool values = true; ///< false when the numbers may differ, and only type, shape and place count

    std::string operator()(const c10::IValue& host, const c10::IValue& other) const;
    /// One by one; `what` they are is for the message.
    std::string all(const Values& host, const Values& other, const std::string& what) const;

private:
    std::string tensors(const at::Tensor& host, const at::Tensor& other) const;
};

/// What a call gave, and the arguments, which it may have written to.
struct Outcome {
    Values results;
    Values arguments;
};

/// What an operator is given to write to: empty tensors of the types that the same operator without `out` returns, or
/// tensors of their shapes too, or empty tensors all of one type.
struct Outs {
    enum { like_results, shaped_like_results, typed } kind = like_results;
    at::ScalarType dtype = at::ScalarType::Undefined;
};

/// Calls it, with the generators of all devices seeded alike.
Outcome call(const c10::OperatorHandle& op, Values arguments);
/// The arguments by a recipe, on the CPU, `out` filled in. Throws std::exception when there are none.
Values arguments_for(const c10::OperatorHandle& op, const Recipe& recipe, const Outs& outs);
/// Whether the result is random.
bool draws(const c10::OperatorHandle& op);
/// Whether the result's numbers are whatever was in memory.
bool leaves_uninitialised(const c10::OperatorHandle& op);

/// An operator and what to try it with.
struct Task {
    c10::OperatorHandle op;
    std::vector<Recipe> recipes;
    std::string why_not; ///< why there are none
};

/// The public operators of this libtorch that are wanted by name, in order of name.
std::vector<Task> tasks_for(const std::function<bool(const std::string&)>& wanted);

/// One try: "" when the CPU does not take these inputs, `pass`, or `fails: why`.
using Attempt = std::function<std::string(const c10::OperatorHandle&, const Recipe&, const Outs&)>;
/// Another way to try an operator than with inputs: "" for a pass, or what was wrong.
using ByHand = std::map<std::string, std::function<std::string()>>;

/// Tries all, in a child process, since some inputs crash some kernels of some versions. By task: `pass`, `fails: why` or
/// `unsupported: why`.
std::vector<std::string> run_all(const std::vector<Task>& tasks, const Attempt& attempt, const ByHand& by_hand = {});

/// Writes `name, signature, result` a line, separated by tabs, for merge.sh. The signature is written alike by all versions
/// of libtorch: the arguments one after the other, `=` after those with a default, and the number of results.
bool write_results(const std::string& path, const std::vector<Task>& tasks, const std::vector<std::string>& results);

} // namespace operators

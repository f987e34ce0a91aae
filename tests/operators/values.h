// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Arguments for any operator, made from a line of text or guessed from its schema.
///
/// A value is written as
///   f(3,4)     float tensor of that shape, normally distributed; f() is a scalar tensor
///   d c h      the same in double, complex float, half
///   p(3,4)     float between 0.1 and 0.9
///   a(5)       float, ascending from 0 to 1
///   e(4,4)     float, symmetric and positive definite
///   l(4,4)     float, lower triangular with a positive diagonal
///   s(3,4)     sparse float; r(3,4) with compressed rows, q(3,4) with compressed columns
///   n(4)       int64 0, 1, 2, 3
///   i(3,4)<5   int64 from 0 to 4; j int32, u uint8; i(3)<5+2 from 2 to 6; 3 when no limit is given
///   b(3,4)     bool
///   S(12)      a storage of 12 floats
///   [v v]      list of tensors; `-` none; `'text'`; true, 1, 0.5; {1,2} list of numbers or of texts
///   float, double, int, long, bool, complex    a dtype
///   name=v     an argument by name; @v by position is on the CPU in any case
namespace operators {

/// One way to call an operator: what is written for its arguments, by position and by name.
struct Recipe {
    std::vector<std::string> positional;
    std::map<std::string, std::string> named;
    std::set<std::size_t> stays; ///< Positions of arguments that are on the CPU in any case.
};

/// What the file of inputs says.
struct Inputs {
    std::map<std::string, std::vector<Recipe>> recipes;
    std::map<std::string, std::string> unsupported;
};

Inputs read_inputs(const std::string& path);

/// The name of an operator as the lists write it: `add.Tensor`, without `aten::`.
std::string full_name(const c10::OperatorHandle& op);

/// The recipes to try for an operator: its own, those of its name, those guessed from its schema.
std::vector<Recipe> candidates(const c10::OperatorHandle& op, const Inputs& inputs);

/// The arguments by a recipe, on the CPU, the same at each call; `out` arguments are left none. Throws
/// std::invalid_argument when the recipe does not fit the schema.
std::vector<c10::IValue> make_arguments(const c10::OperatorHandle& op, const Recipe& recipe);

at::Tensor moved(const at::Tensor& tensor, c10::Device device);
/// A value with all tensors and storages in it on a device.
c10::IValue moved(const c10::IValue& value, c10::Device device);

/// Whether an argument is for a result, given by name.
bool is_out(const c10::Argument& argument);

} // namespace operators

// SPDX-License-Identifier: Apache-2.0
// Each of the SDK's operations by a name, so that a test can call one without a node of its own.
#include "ops.h"

#include <map>

namespace sample {
namespace {

using namespace soma::sdk;
using Args = const std::vector<Tensor>&;

Value ranked(const Ranked& both) { return List{both.values, both.indices}; }

const std::map<std::string, Operation>& operations() {
    static const std::map<std::string, Operation> table{
        {"add", [](Args x) -> Value { return x[0] + x[1]; }},
        {"sub", [](Args x) -> Value { return x[0] - x[1]; }},
        {"mul", [](Args x) -> Value { return x[0] * x[1]; }},
        {"div", [](Args x) -> Value { return x[0] / x[1]; }},
        {"add number", [](Args x) -> Value { return 1.0 + (x[0] + 1); }},
        {"sub number", [](Args x) -> Value { return 1.0 - (x[0] - 3); }},
        {"mul number", [](Args x) -> Value { return 2.0 * (x[0] * 3); }},
        {"div number", [](Args x) -> Value { return 2.0 / (x[0] / 4); }},
        {"neg", [](Args x) -> Value { return -x[0]; }},
        {"reciprocal", [](Args x) -> Value { return reciprocal(x[0]); }},
        {"eq",
         [](Args x) -> Value {
             return List{x[0] == x[1], x[0] == 2};
         }},
        {"ne",
         [](Args x) -> Value {
             return List{x[0] != x[1], x[0] != 2};
         }},
        {"lt",
         [](Args x) -> Value {
             return List{x[0] < x[1], x[0] < 2};
         }},
        {"le",
         [](Args x) -> Value {
             return List{x[0] <= x[1], x[0] <= 2};
         }},
        {"gt",
         [](Args x) -> Value {
             return List{x[0] > x[1], x[0] > 2};
         }},
        {"ge",
         [](Args x) -> Value {
             return List{x[0] >= x[1], x[0] >= 2};
         }},
        {"exp", [](Args x) -> Value { return exp(x[0]); }},
        {"log", [](Args x) -> Value { return log(x[0]); }},
        {"sqrt", [](Args x) -> Value { return sqrt(x[0]); }},
        {"rsqrt", [](Args x) -> Value { return rsqrt(x[0]); }},
        {"abs", [](Args x) -> Value { return abs(x[0]); }},
        {"sign", [](Args x) -> Value { return sign(x[0]); }},
        {"sin", [](Args x) -> Value { return sin(x[0]); }},
        {"cos", [](Args x) -> Value { return cos(x[0]); }},
        {"tanh", [](Args x) -> Value { return tanh(x[0]); }},
        {"sigmoid", [](Args x) -> Value { return sigmoid(x[0]); }},
        {"relu", [](Args x) -> Value { return relu(x[0]); }},
        {"gelu", [](Args x) -> Value { return gelu(x[0]); }},
        {"floor", [](Args x) -> Value { return floor(x[0]); }},
        {"round", [](Args x) -> Value { return round(x[0]); }},
        {"isnan", [](Args x) -> Value { return isnan(log(x[0])); }},
        {"logical_not", [](Args x) -> Value { return logical_not(x[0]); }},
        {"pow", [](Args x) -> Value { return pow(x[0], 3); }},
        {"clamp",
         [](Args x) -> Value {
             return List{clamp(x[0], 0.0, 2.0), clamp(x[0], std::nullopt, 2.0)};
         }},
        {"minimum", [](Args x) -> Value { return minimum(x[0], x[1]); }},
        {"maximum", [](Args x) -> Value { return maximum(x[0], x[1]); }},
        {"where", [](Args x) -> Value { return where(x[0] > x[1], x[0], x[1]); }},
        {"masked_fill", [](Args x) -> Value { return masked_fill(x[0], x[0] > 2, -1); }},
        {"softmax", [](Args x) -> Value { return softmax(x[0], -1); }},
        {"log_softmax", [](Args x) -> Value { return log_softmax(x[0], -1); }},
        {"sum",
         [](Args x) -> Value {
             return List{sum(x[0]), sum(x[0], {1}), sum(x[0], {0}, true)};
         }},
        {"mean",
         [](Args x) -> Value {
             return List{mean(x[0]), mean(x[0], {1}), mean(x[0], {0}, true)};
         }},
        {"max",
         [](Args x) -> Value {
             return List{max(x[0]), amax(x[0], {1}), argmax(x[0], 1)};
         }},
        {"min",
         [](Args x) -> Value {
             return List{min(x[0]), amin(x[0], {1}), argmin(x[0], 1)};
         }},
        {"cumsum", [](Args x) -> Value { return cumsum(x[0], 1); }},
        {"any",
         [](Args x) -> Value {
             return List{any(x[0] > 3), all(x[0] > 3)};
         }},
        {"norm", [](Args x) -> Value { return norm(x[0], {1}); }},
        {"normalize", [](Args x) -> Value { return normalize(x[0]); }},
        {"topk", [](Args x) -> Value { return ranked(topk(x[0], 1)); }},
        {"sort", [](Args x) -> Value { return ranked(sort(x[0], 1, true)); }},
        {"reshape", [](Args x) -> Value { return reshape(x[0], {-1}); }},
        {"transpose",
         [](Args x) -> Value {
             return List{transpose(x[0], 0, 1), t(x[0]), permute(x[0], {1, 0})};
         }},
        {"squeeze", [](Args x) -> Value { return squeeze(unsqueeze(x[0], 0), 0); }},
        {"unsqueeze", [](Args x) -> Value { return unsqueeze(x[0], 1); }},
        {"expand",
         [](Args x) -> Value {
             return expand(unsqueeze(x[0], 0), {2, -1, -1});
         }},
        {"flatten", [](Args x) -> Value { return flatten(x[0]); }},
        {"select",
         [](Args x) -> Value {
             return List{select(x[0], 0, 1), narrow(x[0], 1, 0, 1)};
         }},
        {"index_select", [](Args x) -> Value { return index_select(x[0], 0, arange(1, 2, x[0].device())); }},
        {"gather",
         [](Args x) -> Value {
             return gather(x[0], 1, from_vector<std::int64_t>({1, 0}, {2, 1}, x[0].device()));
         }},
        {"flip", [](Args x) -> Value { return flip(x[0], {0}); }},
        {"cat",
         [](Args x) -> Value {
             return cat({x[0], x[1]}, 1);
         }},
        {"stack",
         [](Args x) -> Value {
             return stack({x[0], x[1]});
         }},
        {"clone", [](Args x) -> Value { return contiguous(clone(x[0])); }},
        {"to_dtype", [](Args x) -> Value { return to_dtype(x[0], "int64"); }},
        {"matmul",
         [](Args x) -> Value {
             return List{matmul(x[0], x[1]), mm(x[0], x[1])};
         }},
        {"bmm", [](Args x) -> Value { return bmm(unsqueeze(x[0], 0), unsqueeze(x[1], 0)); }},
        {"dot", [](Args x) -> Value { return dot(flatten(x[0]), flatten(x[1])); }},
        {"linear",
         [](Args x) -> Value {
             return List{linear(x[0], x[1]), linear(x[0], x[1], ones({2}, x[0].device()))};
         }},
        {"embedding", [](Args x) -> Value { return embedding(x[0], arange(0, 1, x[0].device())); }},
        {"layer_norm", [](Args x) -> Value { return layer_norm(x[0], {2}); }},
        {"mse_loss", [](Args x) -> Value { return mse_loss(x[0], x[1]); }},
        {"create",
         [](Args x) -> Value {
             return List{zeros({2}),   ones({1}, "cpu", "int64"), full({2}, 1.5),
                         arange(2, 5), zeros_like(x[0]),          ones_like(x[0])};
         }},
        {"empty",
         [](Args) -> Value {
             return empty({2, 3});
         }},
        {"call",
         [](Args x) -> Value {
             return call("aten::tril", "", {x[0]}, {{"diagonal", -1}});
         }},
        {"item",
         [](Args x) -> Value {
             return List{sum(x[0]).item<double>(), arange(7, 8).item<int>(), any(x[0] > 3).item<bool>()};
         }},
        {"facts",
         [](Args x) -> Value {
             return Dict{{"device", x[0].device()},    {"dtype", x[0].dtype()},       {"sizes", Dims{x[0].sizes()}},
                         {"text", x[0].sizes().str()}, {"numel", x[0].numel()},       {"dim", x[0].dim()},
                         {"last", x[0].size(-1)},      {"grad", x[0].requires_grad()}};
         }},
        {"vector",
         [](Args x) -> Value {
             return List{to_vector<float>(t(x[0])), to_vector<std::int64_t>(x[0])};
         }},
        {"memory",
         [](Args x) -> Value {
             const Tensor mine = clone(x[0]);
             {
                 const Memory<float> memory{mine};
                 memory[0] = 9;
             }
             return mine;
         }},
        {"memory of another dtype",
         [](Args x) -> Value { return static_cast<std::int64_t>(Memory<const double>{x[0]}.size()); }},
        {"memory not contiguous",
         [](Args x) -> Value { return static_cast<std::int64_t>(Memory<const float>{t(x[0])}.size()); }},
        {"memory on meta",
         [](Args) -> Value { return static_cast<std::int64_t>(Memory<const float>{empty({2}, "meta")}.size()); }},
        {"wrong sizes",
         [](Args) -> Value {
             return from_vector<float>({1, 2, 3}, {2, 2});
         }},
    };
    return table;
}

} // namespace

Operation find_operation(const std::string& name) {
    const auto found = operations().find(name);
    if (found == operations().end()) throw Error{Code::not_found, "no operation `" + name + "`"};
    return found->second;
}

} // namespace sample

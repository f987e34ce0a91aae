// SPDX-License-Identifier: Apache-2.0
// The tensor engine alone: its table, as the core and the ABI use it, and the C++ door to it.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/function.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "soma/detail/engine.h"
#include "soma/detail/status.h"
#include "soma/detail/value_rep.h"
#include "soma/error.h"
#include "soma/ext/torch.h"
#include "soma/torch.h"
#include "support/catch.h"

using namespace soma;

namespace {

const soma::detail::Engine& engine() { return soma::detail::require_engine(); }

soma_string str(std::string_view text) { return {text.data(), text.size()}; }

constexpr soma_place cpu{SOMA_DEVICE_CPU, 0};
constexpr soma_place meta{SOMA_DEVICE_META, 0};

/// A failed call: its code and message.
struct Refused {
    std::uint32_t code = SOMA_OK;
    std::string message;
    explicit Refused(soma_status* status)
        : code(soma::detail::status_code(status)), message(soma::detail::full_message(status)) {
        soma::detail::release_status(status);
    }
};

void must(soma_status* status) {
    const Refused result(status);
    INFO(result.message);
    REQUIRE(result.code == SOMA_OK);
}

using Named = std::vector<std::pair<std::string, Value>>;

struct Call {
    const soma_operator* op = nullptr;
    std::vector<soma_value*> args;
    std::vector<soma_string> names;
    std::vector<soma_value*> named;
    std::vector<soma_value*> results = std::vector<soma_value*>(8);
    soma_call raw{};

    Call(std::string_view name, std::string_view overload, const std::vector<Value>& positional, const Named& by_name) {
        must(engine().op_find(str(name), str(overload), &op));
        for (const Value& value : positional) args.push_back(value.handle());
        for (const auto& [key, value] : by_name) {
            names.push_back(str(key));
            named.push_back(value.handle());
        }
        raw.struct_size = sizeof raw;
        raw.arg_count = static_cast<std::uint32_t>(args.size());
        raw.args = args.data();
        raw.named_count = static_cast<std::uint32_t>(named.size());
        raw.names = names.data();
        raw.named = named.data();
        raw.result_capacity = static_cast<std::uint32_t>(results.size());
        raw.results = results.data();
    }
};

std::vector<Value> call_all(std::string_view name, std::string_view overload, const std::vector<Value>& args,
                            const Named& named = {}) {
    Call call(name, overload, args, named);
    must(engine().op_call(call.op, &call.raw));
    std::vector<Value> results;
    for (std::uint32_t i = 0; i < call.raw.result_count; ++i) results.push_back(Value::adopt(call.results[i]));
    return results;
}

Value call(std::string_view name, std::string_view overload, const std::vector<Value>& args, const Named& named = {}) {
    auto results = call_all(name, overload, args, named);
    REQUIRE(results.size() == 1);
    return results[0];
}

Refused refused(std::string_view name, std::string_view overload, const std::vector<Value>& args,
                const Named& named = {}) {
    Call call(name, overload, args, named);
    return Refused(engine().op_call(call.op, &call.raw));
}

Value list(std::vector<Value> items) { return Value::list(std::move(items)); }

Value tensor(const Value& nested, std::string_view dtype = {}) {
    soma_value* out = nullptr;
    must(engine().from_nested(nested.handle(), str(dtype), &out));
    return Value::adopt(out);
}

Refused no_tensor(const Value& nested, std::string_view dtype = {}) {
    soma_value* out = nullptr;
    return Refused(engine().from_nested(nested.handle(), str(dtype), &out));
}

Value nested(const Value& tensor) {
    soma_value* out = nullptr;
    must(engine().to_nested(tensor.handle()->payload, &out));
    return Value::adopt(out);
}

std::string shape(const Value& tensor) {
    char text[128];
    return {text, engine().shape_text(tensor.handle()->payload, text, sizeof text)};
}

soma_place place(const Value& value) { return engine().place(value.handle()->kind, value.handle()->payload); }

bool same(soma_place a, soma_place b) { return a.kind == b.kind && a.index == b.index; }

std::string text(soma_place place) {
    char buffer[64];
    return {buffer, engine().place_text(place, buffer, sizeof buffer)};
}

Value moved(const Value& tensor, soma_place where) {
    soma_value* out = nullptr;
    must(engine().to(tensor.handle(), where, &out));
    return Value::adopt(out);
}

std::uint64_t version(const Value& tensor) {
    std::uint64_t out = 0;
    REQUIRE(engine().version(tensor.handle()->payload, &out));
    return out;
}

at::Tensor parameter(at::Tensor data) { return data.set_requires_grad(true); }

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

template <typename Run>
std::string thrown(Run&& run) {
    try {
        run();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

} // namespace

TEST_CASE("a tensor passes through a value and stays the same tensor") {
    const at::Tensor x = at::ones({2, 3});
    const Value value = from_tensor(x);
    CHECK(value.kind() == Kind::tensor);
    CHECK(to_tensor(value).is_same(x));
    CHECK(x.use_count() == 2);
    CHECK(from_tensor(at::Tensor()).is_none());
    CHECK_FALSE(to_tensor(Value()).defined());
    CHECK(thrown([] { to_tensor(Value("text")); }) == "wants a tensor, got a string");
    const Value many = Value::dict({{"a", list({value, Value(1)})}, {"b", from_tensor(at::zeros({1}))}});
    REQUIRE(to_tensors(many).size() == 2);
    CHECK(to_tensors(many)[0].is_same(x));
}

TEST_CASE("a tensor says what and where it is") {
    const Value x = tensor(list({list({1.0, 2.0}), list({3.0, 4.0}), list({5.0, 6.0})}));
    soma_tensor_info info{};
    info.struct_size = sizeof info;
    must(engine().info(x.handle()->payload, &info));
    CHECK(info.struct_size == sizeof info);
    CHECK(info.ndim == 2);
    CHECK(info.sizes[0] == 3);
    CHECK(info.strides[0] == 2);
    CHECK(info.numel == 6);
    CHECK(std::string(info.dtype.data) == "float32");
    CHECK(std::string(info.device.data) == "cpu");
    CHECK(info.dl_dtype.code == 2);
    CHECK(info.dl_dtype.bits == 32);
    CHECK(info.requires_grad == 0);
    CHECK(same(info.place, cpu));
    CHECK(shape(x) == "float32[3, 2]");
    CHECK(shape(from_tensor(at::zeros({}))) == "float32[]");
    CHECK(shape(call("aten::to_sparse", "", {x})) == "sparse_coo float32[3, 2]");
    CHECK(shape(call("aten::quantize_per_tensor", "", {x, 0.1, 0, "quint8"})) == "quint8[3, 2]");

    info = {};
    info.struct_size = offsetof(soma_tensor_info, sizes);
    must(engine().info(x.handle()->payload, &info));
    CHECK(std::string(info.dtype.data) == "float32");
    CHECK(info.numel == 0);
}

TEST_CASE("a place reads as libtorch writes it") {
    CHECK(text(cpu) == "cpu");
    CHECK(text(meta) == "meta");
    CHECK(text({SOMA_DEVICE_CUDA, 0}) == "cuda:0");
    CHECK(text({SOMA_DEVICE_CUDA, 127}) == "cuda:127");
    CHECK(text({SOMA_DEVICE_XPU, 3}) == "xpu:3");
    CHECK(text({SOMA_DEVICE_MPS, 0}) == "mps");
    CHECK(text({SOMA_DEVICE_NONE, 0}) == "nowhere");
    CHECK(to_torch(Device::parse("cuda:1")) == at::Device(at::kCUDA, 1));
    CHECK(from_torch(at::Device(at::kCPU, 0))->str() == "cpu");
    CHECK(from_torch(at::Device(at::kMPS, 0))->str() == "mps");
    CHECK_FALSE(from_torch(at::Device(at::kCUDA)).has_value());
    CHECK_FALSE(from_torch(at::Device(at::kPrivateUse1, 0)).has_value());
    char two[2];
    CHECK(engine().place_text(meta, two, sizeof two) == 2);
}

TEST_CASE("an operator is called with positional and named arguments and the defaults of its schema") {
    const Value a = tensor(list({1.0, 2.0}));
    const Value b = tensor(list({10.0, 20.0}));
    CHECK(nested(call("aten::add", "Tensor", {a, b})) == list({11.0, 22.0}));
    CHECK(nested(call("aten::add", "Tensor", {a, b}, {{"alpha", 2}})) == list({21.0, 42.0}));
    CHECK(nested(call("aten::add", "Tensor", {}, {{"other", b}, {"self", a}})) == list({11.0, 22.0}));
    CHECK(nested(call("aten::add", "Scalar", {a, 5})) == list({6.0, 7.0}));
    CHECK(nested(call("aten::add", "Scalar", {a, 0.5})) == list({1.5, 2.5}));
    CHECK(nested(call("aten::mul", "Scalar", {a, true})) == list({1.0, 2.0}));
}

TEST_CASE("arguments convert by the schema (meta)") {
    const Value x = tensor(list({list({1.0, 2.0}), list({3.0, 4.0})}));
    CHECK(shape(call("aten::zeros", "", {list({2, 3})},
                     {{"dtype", "int64"}, {"device", "cpu"}, {"layout", "strided"}})) == "int64[2, 3]");
    CHECK(shape(call("aten::zeros", "", {list({2})}, {{"dtype", "half"}})) == "float16[2]");
    CHECK(same(place(call("aten::zeros", "", {list({2})}, {{"device", "meta"}})), meta));
    CHECK(nested(call("aten::sum", "dim_IntList", {x, list({1})}, {{"dtype", "float64"}})) == list({3.0, 7.0}));
    CHECK(nested(call("aten::sum", "dim_IntList", {x, 0})) == list({4.0, 6.0}));
    CHECK(nested(call("aten::sum", "dim_IntList", {x, Value()})) == Value(10.0));
    CHECK(nested(call("aten::cat", "", {list({x, x}), 1})) ==
          list({list({1.0, 2.0, 1.0, 2.0}), list({3.0, 4.0, 3.0, 4.0})}));
    CHECK(nested(call("aten::index", "Tensor", {x, list({Value(), tensor(list({1}))})})) ==
          list({list({2.0}), list({4.0})}));
    CHECK(nested(call("aten::clamp", "", {x, Value(), 3})) == list({list({1.0, 2.0}), list({3.0, 3.0})}));
    CHECK(nested(call("aten::leaky_relu", "", {x, 1})) == nested(x));
    CHECK(shape(call("aten::einsum", "", {"ij,jk->ik", list({x, x})})) == "float32[2, 2]");
    CHECK(shape(call("aten::contiguous", "", {from_tensor(at::zeros({1, 2, 3, 4}))},
                     {{"memory_format", "channels_last"}})) == "float32[1, 2, 3, 4]");
    CHECK(shape(call("aten::upsample_nearest2d", "vec",
                     {from_tensor(at::zeros({1, 1, 2, 2})), Value(), list({2.0, 2})})) == "float32[1, 1, 4, 4]");
    CHECK(shape(call("aten::max_pool2d", "", {from_tensor(at::zeros({1, 1, 4, 4})), 2})) == "float32[1, 1, 2, 2]");
    const Value bias;
    CHECK(nested(call("aten::linear", "", {x, from_tensor(at::eye(2)), bias})) == nested(x));
}

TEST_CASE("results are values of their own kind") {
    const Value x = tensor(list({list({1.0, 5.0}), list({7.0, 4.0})}));
    const auto max = call_all("aten::max", "dim", {x, 1});
    REQUIRE(max.size() == 2);
    CHECK(nested(max[0]) == list({5.0, 7.0}));
    CHECK(nested(max[1]) == list({1, 0}));
    const Value parts = call("aten::split", "Tensor", {x, 1});
    REQUIRE(parts.kind() == Kind::list);
    CHECK(nested(parts.at(1)) == list({list({7.0, 4.0})}));
    CHECK(call("aten::size", "int", {x, 0}) == Value(2));
    CHECK(call("aten::is_nonzero", "", {tensor(3.0)}) == Value(true));
    CHECK(call("aten::item", "", {tensor(2.5)}) == Value(2.5));
    CHECK(call("aten::item", "", {tensor(list({1.0, -2.0}), "complex64")}) == list({1.0, -2.0}));
    CHECK(call("aten::equal", "", {x, x}) == Value(true));
    CHECK(call_all("aten::_assert_async", "", {tensor(true)}).empty());
}

TEST_CASE("in-place and out variants write where they are told") {
    const Value x = tensor(list({1.0, 2.0}));
    const Value same_x = call("aten::add_", "Tensor", {x, x});
    CHECK(to_tensor(same_x).is_same(to_tensor(x)));
    CHECK(nested(x) == list({2.0, 4.0}));
    const Value out = from_tensor(at::empty({0}));
    call("aten::add", "out", {x, x}, {{"out", out}});
    CHECK(nested(out) == list({4.0, 8.0}));
    const Refused by_position = refused("aten::add", "out", {x, x, out});
    CHECK(by_position.message ==
          "`aten::add.out` takes 2 arguments by position, 3 were given; by name it takes `alpha`, "
          "`out`");
}

TEST_CASE("arguments by position and by name give the same and are refused alike") {
    const Value x = tensor(list({list({1.0, -2.0}), list({3.0, 4.0})}));
    const Value y = tensor(list({list({0.5, 2.0}), list({-1.0, 0.0})}));
    const Value bias = tensor(list({1.0, 2.0}));
    struct Case {
        const char* name;
        const char* overload;
        std::vector<Value> arguments;
        std::vector<const char*> names;
        bool fails = false;
    };
    const Value none;
    const Value mask = tensor(list({true, false}));
    const Value rows = tensor(list({1, 0}));
    const Value deep = from_tensor(at::ones({1, 1, 1, 1, 1, 1, 1, 1, 2}));
    const Value turned = list({8, 7, 6, 5, 4, 3, 2, 1, 0});
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    // One of each signature that is called without a stack of arguments.
    for (const Case& one :
         std::vector<Case>{{"aten::relu", "", {x}, {"self"}},
                           {"aten::matmul", "", {x, y}, {"self", "other"}},
                           {"aten::add", "Tensor", {x, y}, {"self", "other"}},
                           {"aten::mul", "Scalar", {x, 3}, {"self", "other"}},
                           {"aten::mul", "Scalar", {x, true}, {"self", "other"}},
                           {"aten::add", "Scalar", {x, 1.5, 2}, {"self", "other", "alpha"}},
                           {"aten::leaky_relu", "", {x}, {"self"}},
                           {"aten::linear", "", {x, y}, {"input", "weight"}},
                           {"aten::linear", "", {x, y, Value()}, {"input", "weight", "bias"}},
                           {"aten::linear", "", {x, y, bias}, {"input", "weight", "bias"}},
                           {"aten::unsqueeze", "", {x, 1}, {"self", "dim"}},
                           {"aten::transpose", "int", {x, -1, 0}, {"self", "dim0", "dim1"}},
                           {"aten::where", "self", {mask, x, y}, {"condition", "self", "other"}},
                           {"aten::select", "int", {x, 1, -1}, {"self", "dim", "index"}},
                           {"aten::index_select", "", {x, 0, rows}, {"self", "dim", "index"}},
                           {"aten::slice", "Tensor", {x}, {"self"}},
                           {"aten::slice", "Tensor", {x, 1, none, 1}, {"self", "dim", "start", "end"}},
                           {"aten::permute", "", {x, list({1, 0})}, {"self", "dims"}},
                           {"aten::permute", "", {deep, turned}, {"self", "dims"}},
                           {"aten::reshape", "", {x, list({4, -1})}, {"self", "shape"}},
                           {"aten::view", "", {x, list({})}, {"self", "size"}, true},
                           {"aten::reshape", "", {x, list({least, 2})}, {"self", "shape"}, true},
                           {"aten::softmax", "int", {x, 1}, {"self", "dim"}},
                           {"aten::softmax", "int", {x, 1, none}, {"self", "dim", "dtype"}},
                           {"aten::softmax", "int", {x, 1, "float64"}, {"self", "dim", "dtype"}},
                           {"aten::sum", "", {x}, {"self"}},
                           {"aten::sum", "dim_IntList", {x, list({1}), true}, {"self", "dim", "keepdim"}},
                           {"aten::mean", "dim", {x, list({0, 1})}, {"self", "dim"}},
                           {"aten::mean", "dim", {x, none}, {"self", "dim"}},
                           {"aten::gelu", "", {x}, {"self"}},
                           {"aten::dropout", "", {x, 0.5, false}, {"input", "p", "train"}},
                           {"aten::dropout", "", {x, 1, false}, {"input", "p", "train"}},
                           {"aten::layer_norm", "", {x, list({2})}, {"input", "normalized_shape"}},
                           {"aten::layer_norm",
                            "",
                            {x, list({2}), bias, none, 0.5},
                            {"input", "normalized_shape", "weight", "bias", "eps"}},
                           {"aten::embedding", "", {x, rows}, {"weight", "indices"}},
                           {"aten::cat", "", {list({x, y, x, y, x}), -1}, {"tensors", "dim"}},
                           {"aten::cat", "", {list({x, bias, y})}, {"tensors"}, true},
                           {"aten::stack", "", {list({x, y})}, {"tensors"}}}) {
        INFO(one.name << '.' << one.overload);
        Named by_name;
        for (std::size_t i = 0; i < one.names.size(); ++i) by_name.emplace_back(one.names[i], one.arguments[i]);
        if (one.fails) {
            const Refused here = refused(one.name, one.overload, one.arguments);
            CHECK(here.code != SOMA_OK);
            CHECK(here.message == refused(one.name, one.overload, {}, by_name).message);
            continue;
        }
        CHECK(nested(call(one.name, one.overload, one.arguments)) == nested(call(one.name, one.overload, {}, by_name)));
    }
    const Refused by_position = refused("aten::add", "Tensor", {x, y, 2});
    CHECK(by_position.message ==
          "`aten::add.Tensor` takes 2 arguments by position, 3 were given; by name it takes `alpha`");
    CHECK(nested(call("aten::add", "Tensor", {x, y}, {{"alpha", 2}})) == list({list({2.0, 2.0}), list({1.0, 4.0})}));
    CHECK(refused("aten::transpose", "int", {x, 0, 5}).code ==
          refused("aten::transpose", "int", {x}, {{"dim0", 0}, {"dim1", 5}}).code);
}

TEST_CASE("a wrong argument says which and what was expected") {
    const Value x = tensor(list({1.0, 2.0}));
    CHECK(refused("aten::add", "Tensor", {x, "two"}).message ==
          "`aten::add.Tensor`: argument 2 `other` wants a Tensor, got a string");
    CHECK(refused("aten::add", "Tensor", {x, "two"}).code == SOMA_TYPE_MISMATCH);
    CHECK(refused("aten::add", "Tensor", {x}).message ==
          "`aten::add.Tensor`: argument 2 `other` (Tensor) is missing and has no default");
    CHECK(refused("aten::add", "Tensor", {x, Value()}).message ==
          "`aten::add.Tensor`: argument 2 `other` wants a Tensor, got none");
    CHECK(refused("aten::add", "Tensor", {x, x}, {{"alpa", 2}}).message ==
          "`aten::add.Tensor` has no argument `alpa` (did you mean `alpha`?)");
    CHECK(refused("aten::add", "Tensor", {x, x}, {{"other", x}}).message ==
          "`aten::add.Tensor`: argument 2 `other` is given twice");
    CHECK(refused("aten::relu", "", {x, x}).message == "`aten::relu` takes 1 argument by position, 2 were given");
    CHECK(refused("aten::cat", "", {list({x, 3})}).message ==
          "`aten::cat`: argument 1 `tensors` wants a list of Tensors, got an int at `[1]`");
    CHECK(refused("aten::sum", "dim_IntList", {x, list({0.5})}).message ==
          "`aten::sum.dim_IntList`: argument 2 `dim` wants a list of 1 ints or one of them or none, got a float at "
          "`[0]`");
    CHECK(refused("aten::softmax", "int", {x, 1.0}).message ==
          "`aten::softmax.int`: argument 2 `dim` wants an int, got a float");
    CHECK(refused("aten::zeros", "", {list({2})}, {{"dtype", "flaot32"}}).message ==
          "`aten::zeros`: argument 2 `dtype`: `flaot32` is not a dtype (did you mean `float32`?)");
    CHECK(refused("aten::zeros", "", {list({2})}, {{"dtype", "torch.float32"}}).message ==
          "`aten::zeros`: argument 2 `dtype`: `torch.float32` is not a dtype (write `float32`)");
    const std::string device = refused("aten::zeros", "", {list({2})}, {{"device", "cude:0"}}).message;
    CHECK(has(device, "`aten::zeros`: argument 4 `device`: "));
    CHECK(has(device, "did you mean `cuda"));
    CHECK(has(refused("aten::zeros", "", {list({2})}, {{"layout", "strode"}}).message, "`strode` is not a layout"));
    CHECK(refused("aten::rand", "generator", {list({2})}, {{"generator", "seed"}}).message ==
          "`aten::rand.generator`: argument 2 `generator` wants a generator or none, got a string");
    Call small("aten::max", "dim", {x, 0}, {});
    small.raw.result_capacity = 1;
    CHECK(Refused(engine().op_call(small.op, &small.raw)).message ==
          "`aten::max.dim` gives 2 results, but there is room for 1");
}

TEST_CASE("an unknown operator offers the nearest name and the overloads there are") {
    const soma_operator* op = nullptr;
    const Refused name(engine().op_find(str("aten::reluu"), str(""), &op));
    CHECK(name.code == SOMA_NOT_FOUND);
    CHECK(name.message == "this libtorch has no operator `aten::reluu` (did you mean `aten::relu`?)");
    const Refused overload(engine().op_find(str("aten::softmax"), str("in"), &op));
    CHECK(has(overload.message, "`aten::softmax` has no overload `in` (did you mean `int`?); "
                                "it has `Dimname`, `int`"));
    CHECK(op == nullptr);
    const soma_operator* again = nullptr;
    must(engine().op_find(str("aten::relu"), str(""), &op));
    must(engine().op_find(str("aten::relu"), str(""), &again));
    CHECK(op == again);
}

TEST_CASE("what libtorch says arrives without its backtrace") {
    const Value a = from_tensor(at::zeros({2, 3}));
    const Value b = from_tensor(at::zeros({4, 5}));
    const Refused mismatch = refused("aten::mm", "", {a, b});
    CHECK(mismatch.message == "`aten::mm`: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
    CHECK(mismatch.code == SOMA_INVALID_ARGUMENT);
    CHECK(refused("aten::select", "int", {a, 0, 7}).code == SOMA_OUT_OF_RANGE);
    const Refused memory = refused("aten::zeros", "", {list({std::int64_t{1} << 50})});
    CHECK(memory.code == SOMA_OUT_OF_MEMORY);
    CHECK(memory.message.find("Exception raised") == std::string::npos);
}

TEST_CASE("an operator called inside an operator has its own arguments") {
    // A gradient runs the engine's own calls while the outer call is under way.
    const Value w = from_tensor(parameter(at::ones({2})));
    const Value y = call("aten::sum", "", {call("aten::mul", "Tensor", {w, w})});
    call_all("aten::_backward", "", {y, list({}), Value(), Value(), false});
    CHECK(nested(from_tensor(to_tensor(w).grad())) == list({2.0, 2.0}));
}

TEST_CASE("nested lists become tensors as torch would make them") {
    CHECK(shape(tensor(list({1, 2}))) == "int64[2]");
    CHECK(shape(tensor(list({1, 2.5}))) == "float32[2]");
    CHECK(shape(tensor(list({true, false}))) == "bool[2]");
    CHECK(shape(tensor(list({true, 2}))) == "int64[2]");
    CHECK(shape(tensor(list({}))) == "float32[0]");
    CHECK(shape(tensor(list({list({}), list({})}))) == "float32[2, 0]");
    CHECK(shape(tensor(7)) == "int64[]");
    CHECK(shape(tensor(list({1, 2}), "bfloat16")) == "bfloat16[2]");
    CHECK(nested(tensor(list({1, 2}), "float64")) == list({1.0, 2.0}));
    CHECK(nested(tensor(list({2.0, 3.0}), "int32")) == list({2, 3}));
    CHECK(nested(tensor(list({list({1.0, -1.0})}), "complex128")) == list({list({1.0, -1.0})}));
    const std::int64_t large = (std::int64_t{1} << 62) + 1;
    CHECK(nested(tensor(list({large, 1.0}), "int64")) == list({large, 1}));
}

TEST_CASE("lists that are no tensor name the item at fault") {
    CHECK(no_tensor(list({list({1, 2}), list({3})})).message ==
          "the lists are ragged: `[1]` is a list of 1 item where `[0]` is a list of 2 items");
    CHECK(no_tensor(list({list({1}), 2})).message ==
          "the lists are ragged: `[1]` is an int where `[0]` is a list of 1 item");
    CHECK(no_tensor(list({1, list({2})})).message ==
          "the lists are ragged: `[1]` is a list of 1 item where `[0]` is no list");
    CHECK(no_tensor(list({1, "x"})).message == "a tensor is made of ints, floats and bools; `[1]` is a string");
    CHECK(no_tensor(list({1, 300}), "uint8").message == "`[1]` is 300, which does not fit uint8");
    CHECK(no_tensor(list({1.5}), "int64").message == "`[0]` is 1.5, which is no int64");
    CHECK(no_tensor(list({1}), "float31").message == "`float31` is not a dtype (did you mean `float32`?)");
    CHECK(no_tensor(list({1.0}), "complex64").message ==
          "a complex number is written as a list of its real and imaginary part");
    CHECK(no_tensor(list({1}), "quint8").message == "a tensor of `quint8` cannot be made from a list");
    Value deep(1);
    for (int i = 0; i < 70; ++i) deep = list({deep});
    CHECK(no_tensor(deep).message == "the lists are nested deeper than 64 levels");
}

TEST_CASE("elements of every dtype read back as numbers") {
    for (const char* dtype : {"uint8", "int8", "int16", "int32", "int64"}) {
        CHECK(nested(tensor(list({1, 2}), dtype)) == list({1, 2}));
    }
    for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
        CHECK(nested(tensor(list({1.5, -2.0}), dtype)) == list({1.5, -2.0}));
    }
    CHECK(nested(tensor(list({list({1.0, 2.0})}), "complex64")) == list({list({1.0, 2.0})}));
    CHECK(nested(tensor(list({true, false}))) == list({true, false}));
    const Value x = tensor(list({list({0.0, 1.0}), list({2.0, 0.0})}));
    CHECK(nested(call("aten::to_sparse", "", {x})) == nested(x));
    CHECK(nested(call("aten::quantize_per_tensor", "", {x, 0.5, 0, "qint8"})) == nested(x));
    CHECK(nested(call("aten::t", "", {x})) == list({list({0.0, 2.0}), list({1.0, 0.0})}));
    const Value complex = tensor(list({list({1.0, 2.0})}), "complex64");
    CHECK(nested(call("aten::conj", "", {complex})) == list({list({1.0, -2.0})}));
    CHECK(nested(from_tensor(parameter(at::ones({1})))) == list({1.0}));
    CHECK(nested(from_tensor(at::zeros({0, 3}))) == list({}));
}

TEST_CASE("a tensor on meta is made and asked but holds nothing to read (meta)") {
    const Value x = call("aten::ones", "", {list({2, 3})}, {{"device", "meta"}, {"dtype", "float32"}});
    CHECK(same(place(x), meta));
    CHECK(shape(x) == "float32[2, 3]");
    soma_value* out = nullptr;
    const Refused refusal(engine().to_nested(x.handle()->payload, &out));
    CHECK(refusal.message == "a tensor on `meta` holds no elements to read");
    CHECK(refusal.code == SOMA_FAILED_PRECONDITION);
    const Refused back(engine().to(x.handle(), cpu, &out));
    CHECK(back.message ==
          "a tensor on `meta` holds no data that could move to `cpu`; make it there in the first place");
    CHECK(refused("aten::add", "Tensor", {x, x}).code == SOMA_OK);
}

TEST_CASE("moving gives the same value when it is there already (meta)") {
    const Value x = from_tensor(at::ones({2}));
    const Value there = moved(x, cpu);
    CHECK(there.handle() == x.handle());
    const Value shape_only = moved(x, meta);
    CHECK(same(place(shape_only), meta));
    soma_value* out = nullptr;
    CHECK(Refused(engine().to(Value(1).handle(), cpu, &out)).message == "only a tensor can be moved, got an int");
}

TEST_CASE("a gradient crosses a move") {
    const at::Tensor w = parameter(at::ones({2}));
    soma_value* out = nullptr;
    must(engine().to(from_tensor(w.to(at::kDouble)).handle(), cpu, &out));
    const Value there = Value::adopt(out);
    to_tensor(there).sum().backward();
    CHECK(nested(from_tensor(w.grad())) == list({1.0, 1.0}));
}

TEST_CASE("a parameter moves in place only between devices that hold data (meta)") {
    const at::Tensor w = parameter(at::ones({2}));
    const Value value = from_tensor(w);
    const std::uint64_t before = version(value);
    must(engine().state_to(value.handle(), cpu));
    CHECK(version(value) == before);
    CHECK(Refused(engine().state_to(value.handle(), meta)).message ==
          "a tensor on `cpu` cannot move to `meta` in place: its data would be lost; run a copy with parameters on "
          "`meta` "
          "instead");
    soma_value* out = nullptr;
    must(engine().to_meta(value.handle(), &out));
    const Value shadow = Value::adopt(out);
    CHECK(same(place(shadow), meta));
    CHECK(to_tensor(shadow).requires_grad());
    CHECK(to_tensor(shadow).is_leaf());
    CHECK(Refused(engine().state_to(shadow.handle(), cpu)).message ==
          "a tensor on `meta` holds no data that could move to `cpu`; make it there in the first place");
    must(engine().to_meta(from_tensor(w * 2).handle(), &out));
    CHECK(to_tensor(Value::adopt(out)).is_leaf());
}

TEST_CASE("raw memory is lent and given back") {
    const at::Tensor x = at::rand({3, 4}).t();
    const Value value = from_tensor(x);
    soma_dl_managed* lent = nullptr;
    must(engine().to_dlpack(value.handle(), 0, &lent));
    CHECK(lent->version.major == 1);
    CHECK(lent->flags == SOMA_DL_FLAG_READ_ONLY);
    CHECK(lent->tensor.data == x.data_ptr());
    CHECK(lent->tensor.ndim == 2);
    CHECK(lent->tensor.shape[0] == 4);
    CHECK(lent->tensor.strides[0] == 1);
    CHECK(lent->tensor.dtype.code == 2);
    CHECK(lent->tensor.device.device_type == 1);
    CHECK(x.use_count() == 3);
    lent->deleter(lent);
    CHECK(x.use_count() == 2);

    const std::uint64_t before = version(value);
    must(engine().to_dlpack(value.handle(), 1, &lent));
    CHECK(lent->flags == 0);
    CHECK(version(value) == before + 1);
    lent->deleter(lent);
}

TEST_CASE("raw memory that would lose meaning is refused by name (meta)") {
    const auto why = [](const Value& value) {
        soma_dl_managed* lent = nullptr;
        return Refused(engine().to_dlpack(value.handle(), 0, &lent)).message;
    };
    const Value x = tensor(list({1.0, 2.0}));
    const std::string start = "the tensor cannot be lent as raw memory: ";
    CHECK(why(from_tensor(parameter(at::ones({1})))) ==
          start + "it requires grad, and gradients would be lost; call `aten::detach` first");
    CHECK(why(call("aten::to_sparse", "", {x})) == start + "its layout is sparse_coo; call `aten::to_dense` first");
    CHECK(why(call("aten::quantize_per_tensor", "", {x, 0.1, 0, "qint8"})) ==
          start + "it is quantised; call `aten::dequantize` first");
    const Value complex = tensor(list({list({1.0, 2.0})}), "complex64");
    CHECK(why(call("aten::conj", "", {complex})) ==
          start + "its conjugate bit is set; call `aten::resolve_conj` first");
    CHECK(why(call("aten::imag", "", {call("aten::conj", "", {complex})})) ==
          start + "its negative bit is set; call `aten::resolve_neg` first");
    CHECK(why(moved(x, meta)) == start + "it is on `meta`, where there is none");
    CHECK(why(Value(1)) == start + "it is no tensor but an int");
}

namespace {

/// Memory that a plugin lends to the host.
struct Raw {
    alignas(16) float data[6] = {1, 2, 3, 4, 5, 6};
    std::int64_t shape[2] = {2, 3};
    std::int64_t strides[2] = {3, 1};
    int given_back = 0;
    soma_dl_managed managed{};

    Raw() {
        managed.version = {1, 0};
        managed.manager_ctx = this;
        managed.deleter = [](soma_dl_managed* self) { ++static_cast<Raw*>(self->manager_ctx)->given_back; };
        managed.tensor = {data, {1, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
    }
    Value take() {
        soma_value* out = nullptr;
        must(engine().from_dlpack(&managed, &out));
        return Value::adopt(out);
    }
    std::string why() {
        soma_value* out = nullptr;
        const std::string message = Refused(engine().from_dlpack(&managed, &out)).message;
        CHECK(given_back == 0);
        const std::string start = "the DLPack tensor cannot be taken: ";
        CHECK(message.substr(0, start.size()) == start);
        return message.substr(std::min(start.size(), message.size()));
    }
};

} // namespace

TEST_CASE("a plugin's memory becomes a tensor and goes back with the last reference") {
    Raw raw;
    {
        const Value x = raw.take();
        CHECK(to_tensor(x).data_ptr() == raw.data);
        CHECK(nested(x) == list({list({1.0, 2.0, 3.0}), list({4.0, 5.0, 6.0})}));
        const Value view = call("aten::select", "int", {x, 0, 1});
        CHECK(raw.given_back == 0);
        CHECK(nested(view) == list({4.0, 5.0, 6.0}));
    }
    CHECK(raw.given_back == 1);

    Raw strided;
    std::swap(strided.shape[0], strided.shape[1]);
    strided.strides[0] = 1;
    strided.strides[1] = 3;
    strided.managed.tensor.strides = strided.strides;
    strided.managed.tensor.byte_offset = 0;
    CHECK(nested(strided.take()) == list({list({1.0, 4.0}), list({2.0, 5.0}), list({3.0, 6.0})}));
    CHECK(strided.given_back == 1);

    Raw offset;
    offset.shape[0] = 1;
    offset.managed.tensor.byte_offset = 3 * sizeof(float);
    CHECK(nested(offset.take()) == list({list({4.0, 5.0, 6.0})}));

    Raw empty;
    empty.shape[0] = 0;
    empty.managed.tensor.data = nullptr;
    CHECK(shape(empty.take()) == "float32[0, 3]");
    CHECK(empty.given_back == 1);

    Raw without_deleter;
    without_deleter.managed.deleter = nullptr;
    CHECK(shape(without_deleter.take()) == "float32[2, 3]");
}

TEST_CASE("memory lent read-only cannot be written through the dispatcher") {
    Raw raw;
    raw.managed.flags = SOMA_DL_FLAG_READ_ONLY;
    const Value x = raw.take();
    CHECK(refused("aten::zero_", "", {x}).message ==
          "`aten::zero_` would modify memory that was lent read-only; clone the tensor first");
    const Value row = call("aten::select", "int", {x, 0, 0});
    CHECK(refused("aten::add", "out", {row, row}, {{"out", row}}).message ==
          "`aten::add.out` would modify memory that was lent read-only; clone the tensor first");
    soma_dl_managed* lent = nullptr;
    CHECK(Refused(engine().to_dlpack(x.handle(), 1, &lent)).message ==
          "a writable DLPack export would modify memory that was lent read-only; clone the tensor first");
    CHECK(nested(call("aten::add", "Scalar", {row, 1})) == list({2.0, 3.0, 4.0}));
    CHECK(raw.data[0] == 1);
}

TEST_CASE("DLPack that is not sound is refused by name and stays the plugin's") {
    const auto with = [](auto&& spoil) {
        Raw raw;
        spoil(raw);
        return raw.why();
    };
    CHECK(with([](Raw& raw) { raw.managed.version = {2, 5}; }) == "it is of DLPack 2.5; this host reads 1.x");
    CHECK(with([](Raw& raw) { raw.managed.tensor.dtype.lanes = 4; }) ==
          "its elements are vectors of 4 lanes; only 1 will do");
    CHECK(with([](Raw& raw) { raw.managed.tensor.dtype.bits = 24; }) ==
          "this libtorch has no dtype for code 2 with 24 bits");
    CHECK(with([](Raw& raw) { raw.managed.tensor.ndim = -1; }) == "it has -1 dimensions; 0 to 64 will do");
    CHECK(with([](Raw& raw) { raw.managed.tensor.ndim = 65; }) == "it has 65 dimensions; 0 to 64 will do");
    CHECK(with([](Raw& raw) { raw.managed.tensor.shape = nullptr; }) == "it has 2 dimensions and no shape");
    CHECK(with([](Raw& raw) { raw.shape[1] = -3; }) == "dimension 1 has size -3");
    CHECK(with([](Raw& raw) { raw.managed.tensor.data = nullptr; }) == "it has elements and its data is NULL");
    CHECK(with([](Raw& raw) { raw.shape[0] = std::int64_t{1} << 61; }) ==
          "its shape and strides reach over more memory than there can be");
    CHECK(with([](Raw& raw) {
              raw.strides[1] = -1;
              raw.managed.tensor.strides = raw.strides;
          }) == "dimension 1 has the negative stride -1");
    CHECK(has(with([](Raw& raw) { raw.managed.tensor.byte_offset = 2; }),
              "which is not a multiple of the 4 bytes of a float32"));
    CHECK(with([](Raw& raw) {
              raw.managed.tensor.device = {99, 0};
          }) == "device type 99 is none that this host knows (1 cpu, 2 cuda, 3 pinned, 8 metal, 14 oneAPI)");
    CHECK(with([](Raw& raw) { raw.managed.tensor.device = {2, 77}; }).find("it is on device 77 of type 2, and ") == 0);
    soma_value* out = nullptr;
    CHECK(Refused(engine().from_dlpack(nullptr, &out)).code == SOMA_INVALID_ARGUMENT);
}

TEST_CASE("a write to what a sibling shares is refused before it happens") {
    const Value x = tensor(list({1.0, 2.0}));
    const Value other = tensor(list({3.0, 4.0}));
    const Value input = Value::dict({{"a", list({x})}, {"n", 3}});
    const soma::detail::Borrowed borrowed{"a", "b", input.handle()};
    engine().set_borrowed(&borrowed);
    const Refused direct = refused("aten::add_", "Tensor", {x, other});
    const Refused view = refused("aten::zero_", "", {call("aten::select", "int", {x, 0, 0})});
    const Refused out = refused("aten::add", "out", {other, other}, {{"out", x}});
    const Refused in_list = refused("aten::_foreach_add_", "Scalar", {list({other, x}), 1});
    soma_dl_managed* lent = nullptr;
    const Refused raw(engine().to_dlpack(x.handle(), 1, &lent));
    const Refused reading(engine().to_dlpack(x.handle(), 0, &lent));
    const Refused own = refused("aten::add_", "Tensor", {other, x});
    const Refused pure = refused("aten::add", "Tensor", {other, x});
    engine().set_borrowed(nullptr);
    CHECK(direct.message == "`aten::add_` would modify its input in place while `b` shares it");
    CHECK(direct.code == SOMA_FAILED_PRECONDITION);
    CHECK(view.message == "`aten::zero_` would modify its input in place while `b` shares it");
    CHECK(out.message == "`aten::add.out` would modify its input in place while `b` shares it");
    CHECK(in_list.message == "`aten::_foreach_add_` would modify its input in place while `b` shares it");
    CHECK(raw.message == "a writable DLPack export would modify its input in place while `b` shares it");
    CHECK(reading.code == SOMA_OK);
    CHECK(own.code == SOMA_OK);
    CHECK(pure.code == SOMA_OK);
    CHECK(nested(x) == list({1.0, 2.0}));
    lent->deleter(lent);
    CHECK(refused("aten::add_", "Tensor", {x, other}).code == SOMA_OK);
}

TEST_CASE("the version counter counts writes except under inference mode") {
    const Value x = tensor(list({1.0}));
    const std::uint64_t before = version(x);
    call("aten::add_", "Scalar", {x, 1});
    CHECK(version(x) == before + 1);
    const c10::InferenceMode inference;
    const Value y = from_tensor(at::ones({1}));
    std::uint64_t out = 0;
    CHECK_FALSE(engine().version(y.handle()->payload, &out));
}

TEST_CASE("tensors over one memory have one storage id") {
    const Value x = tensor(list({1.0, 2.0}));
    const auto id = [](const Value& value) { return engine().storage_id(value.handle()->payload); };
    CHECK(id(x) == id(call("aten::select", "int", {x, 0, 1})));
    CHECK(id(x) != id(tensor(list({1.0, 2.0}))));
    CHECK(id(x) != 0);

    // A sparse one's is that of its values, in every layout.
    const Value sparse = call("aten::to_sparse", "", {call("aten::eye", "", {3})});
    CHECK(id(sparse) == id(call("aten::_values", "", {sparse})));
    for (const char* to : {"aten::to_sparse_csr", "aten::to_sparse_csc"}) {
        INFO(to);
        const Value compressed = call(to, "", {call("aten::eye", "", {3})});
        CHECK(id(compressed) == id(call("aten::values", "", {compressed})));
    }
}

TEST_CASE("generators with one seed give one sequence") {
    const auto make = [](soma_place where, std::uint64_t seed) {
        soma_value* out = nullptr;
        must(engine().generator(where, seed, &out));
        return Value::adopt(out);
    };
    const auto draw = [](const Value& generator) {
        return nested(call("aten::rand", "generator", {list({4})}, {{"generator", generator}}));
    };
    const Value g = make(cpu, 7);
    CHECK(g.kind() == Kind::generator);
    CHECK(same(place(g), cpu));
    const Value first = draw(g);
    CHECK(first == draw(make(cpu, 7)));
    CHECK_FALSE(first == draw(g));
    CHECK_FALSE(first == draw(make(cpu, 8)));
    CHECK(to_generator(g).current_seed() == 7);
    CHECK(from_generator(to_generator(g)).kind() == Kind::generator);
    soma_value* out = nullptr;
    CHECK(Refused(engine().generator({SOMA_DEVICE_NONE, 0}, 1, &out)).code == SOMA_INVALID_ARGUMENT);
}

TEST_CASE("random operators on meta take the generator that is made there (meta)") {
    soma_value* out = nullptr;
    must(engine().generator(meta, 3, &out));
    const Value g = Value::adopt(out);
    const Value x = call("aten::empty", "memory_format", {list({3})}, {{"device", "meta"}});
    CHECK(same(place(call("aten::normal_", "", {x}, {{"generator", g}})), meta));
    CHECK(same(place(call("aten::bernoulli_", "float", {x}, {{"generator", g}})), meta));
}

TEST_CASE("the machine is asked without making anything up") {
    CHECK(engine().device_count(SOMA_DEVICE_CPU) == 1);
    CHECK(engine().device_count(SOMA_DEVICE_META) == 1);
    CHECK(engine().has_backend(SOMA_DEVICE_CPU));
    CHECK(engine().has_backend(SOMA_DEVICE_META));
    CHECK(engine().device_count(SOMA_DEVICE_OTHER) == 0);
    const bool cuda = c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA);
    CHECK(engine().has_backend(SOMA_DEVICE_CUDA) == cuda);
    if (!cuda) CHECK(engine().device_count(SOMA_DEVICE_CUDA) == 0);
    CHECK(engine().exchange_device(cpu) == 0);
    CHECK(engine().stream(cpu) == nullptr);
    engine().synchronize(cpu);
}

TEST_CASE("what a node changes of the thread's state is put back") {
    soma::detail::StateWords before{};
    engine().state_words(&before);
    const auto equal = [&] {
        soma::detail::StateWords now{};
        engine().state_words(&now);
        return std::memcmp(&now, &before, sizeof now) == 0;
    };
    CHECK(equal());
    const int threads = at::get_num_threads();
    const std::vector<std::function<void()>> changes{
        [] { c10::GradMode::set_enabled(false); },
        [] { c10::AutogradState::get_tls_state().set_inference_mode(true); },
        [] { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, false); },
        [] { c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Functionalize, true); },
        [] { c10::set_default_dtype(c10::scalarTypeToTypeMeta(c10::kDouble)); },
        [&] { at::set_num_threads(threads + 1); },
    };
    for (const auto& change : changes) {
        change();
        CHECK_FALSE(equal());
        engine().state_restore(&before);
        CHECK(equal());
    }
    CHECK(c10::GradMode::is_enabled());
    CHECK(engine().grad_enabled());
    CHECK(at::get_num_threads() == threads);
    CHECK(c10::get_default_dtype_as_scalartype() == c10::kFloat);
}

TEST_CASE("the bytes to watch change with the modes an operator could change") {
    soma::detail::StateWatch watch{};
    engine().state_watch(&watch);
    const auto bytes = [&] {
        std::string all;
        for (int i = 0; i < 2; ++i) all.append(static_cast<const char*>(watch.at[i]), watch.size[i]);
        return all;
    };
    const std::string before = bytes();
    {
        const c10::AutoGradMode no_grad(false);
        CHECK(bytes() != before);
    }
    {
        const c10::InferenceMode inference;
        CHECK(bytes() != before);
    }
    CHECK(bytes() == before);
}

TEST_CASE("a worker works under its caller's state and gets its own back") {
    const auto worker = [](void* state, auto&& inside) {
        std::thread([&] {
            void* guard = engine().state_enter(state);
            inside(guard != nullptr);
            engine().state_leave(guard);
            CHECK(c10::GradMode::is_enabled());
            CHECK_FALSE(c10::InferenceMode::is_enabled());
            CHECK(c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU));
        }).join();
    };
    void* plain = engine().state_capture();
    worker(plain, [](bool installed) { CHECK_FALSE(installed); });
    engine().state_free(plain);

    void* no_grad = nullptr;
    {
        const c10::AutoGradMode guard(false);
        no_grad = engine().state_capture();
        CHECK(engine().state_enter(no_grad) == nullptr);
    }
    worker(no_grad, [](bool installed) {
        CHECK(installed);
        CHECK_FALSE(c10::GradMode::is_enabled());
    });
    engine().state_free(no_grad);

    void* inference = nullptr;
    {
        const c10::InferenceMode guard;
        inference = engine().state_capture();
    }
    worker(inference, [](bool) { CHECK(at::ones({1}).is_inference()); });
    engine().state_free(inference);

    c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, false);
    void* autocast = engine().state_capture();
    c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::AutocastCPU, true);
    worker(autocast, [](bool) {
        const Value x = from_tensor(at::ones({2, 2}));
        CHECK(shape(call("aten::mm", "", {x, x})) == "bfloat16[2, 2]");
    });
    engine().state_free(autocast);
    CHECK(engine().state_enter(nullptr) == nullptr);
    engine().state_leave(nullptr);
}

TEST_CASE("the number of intra-op threads is each thread's own") {
    const std::int32_t mine = engine().intraop_threads();
    std::thread([&] {
        engine().set_intraop_threads(mine + 1);
        CHECK(engine().intraop_threads() == mine + 1);
        engine().set_intraop_threads(0);
        CHECK(engine().intraop_threads() == mine + 1);
        engine().set_intraop_threads(mine);
    }).join();
    CHECK(engine().intraop_threads() == mine);
}

namespace {

/// A backward as a plugin would supply one: y = x * x for the first input, through raw memory.
struct Square {
    std::atomic<int> released{0};
    std::atomic<int> runs{0};
    std::function<Value(const Value& saved, const Value& grads)> backward;
    soma::detail::BackwardCall call{&run, &release, this, "square"};

    static soma_status* run(void* owner, soma_value* saved, soma_value* grads, soma_value** out) {
        auto& self = *static_cast<Square*>(owner);
        ++self.runs;
        try {
            *out = self.backward(Value::share(saved), Value::share(grads)).release();
            return nullptr;
        } catch (...) {
            return soma::detail::status_from_exception("plugin");
        }
    }
    static void release(void* owner) noexcept { ++static_cast<Square*>(owner)->released; }

    Square() {
        backward = [](const Value& saved, const Value& grads) {
            const at::Tensor x = to_tensor(saved);
            return list({from_tensor(x * 2 * to_tensor(grads.at(0)))});
        };
    }
    Value attach(const at::Tensor& x, const Value& result) {
        soma_value* out = nullptr;
        const Value inputs = list({from_tensor(x)});
        must(engine().attach_backward(&call, from_tensor(x.detach()).handle(), inputs.handle(), result.handle(), &out));
        return Value::adopt(out);
    }
    Value forward(const at::Tensor& x) {
        const c10::AutoGradMode no_grad(false);
        const Value result = from_tensor(x.detach() * x.detach());
        const c10::AutoGradMode grad(true);
        return attach(x, result);
    }
};

} // namespace

TEST_CASE("a custom backward is part of autograd") {
    Square square;
    const at::Tensor x = parameter(at::ones({2}) * 3);
    {
        const Value y = square.forward(x);
        CHECK(to_tensor(y).requires_grad());
        CHECK(to_tensor(y).grad_fn()->name() == "backward of node `square`");
        (to_tensor(y).sum() * 10).backward();
        CHECK(square.released == 0);
    }
    CHECK(nested(from_tensor(x.grad())) == list({60.0, 60.0}));
    CHECK(square.runs == 1);
    CHECK(square.released == 1);
}

TEST_CASE("a custom backward is not attached where nothing asks for gradients") {
    Square square;
    const Value plain = square.forward(at::ones({2}));
    CHECK_FALSE(to_tensor(plain).requires_grad());
    CHECK(square.released == 1);
    const at::Tensor x = parameter(at::ones({2}));
    {
        const c10::AutoGradMode no_grad(false);
        CHECK_FALSE(to_tensor(square.attach(x, from_tensor(x.detach().clone()))).requires_grad());
    }
    CHECK(square.released == 2);
    const Value ints = tensor(list({1, 2}));
    CHECK(square.attach(x, list({ints, "text"})) == list({ints, "text"}));
    CHECK(square.released == 3);
    // What the dispatcher recorded has its gradients already.
    const Value recorded = from_tensor(x * 2);
    CHECK(square.attach(x, recorded).handle() == recorded.handle());
    CHECK(square.released == 4);
}

TEST_CASE("a custom backward sees the gradients of all tensors of a nested result in order") {
    Square square;
    const at::Tensor x = parameter(at::ones({2}));
    Value seen;
    square.backward = [&](const Value&, const Value& grads) {
        seen = grads;
        return list({from_tensor(at::ones({2}))});
    };
    const Value result = Value::dict({{"a", list({from_tensor(at::ones({1})), tensor(list({1}))})},
                                      {"b", from_tensor(at::ones({3}))},
                                      {"c", "text"}});
    const Value attached = square.attach(x, result);
    CHECK(attached.key(2) == "c");
    CHECK(attached.at(2) == Value("text"));
    to_tensor(attached.at(1)).sum().backward();
    REQUIRE(seen.size() == 3);
    CHECK(seen.at(0).is_none());
    CHECK(seen.at(1).is_none());
    CHECK(nested(seen.at(2)) == list({1.0, 1.0, 1.0}));
}

TEST_CASE("a result that is the input itself leaves the input alone") {
    Square square;
    const at::Tensor x = parameter(at::ones({2}));
    square.backward = [](const Value&, const Value& grads) { return list({grads.at(0)}); };
    const Value y = square.attach(x, from_tensor(x));
    CHECK(x.is_leaf());
    CHECK_FALSE(to_tensor(y).is_same(x));
    CHECK(to_tensor(y).data_ptr() == x.data_ptr());
    (to_tensor(y) * 4).sum().backward();
    CHECK(nested(from_tensor(x.grad())) == list({4.0, 4.0}));
}

TEST_CASE("a custom backward that gives something wrong is named (meta)") {
    Square square;
    const at::Tensor x = parameter(at::ones({2}));
    const auto why = [&](Value given) {
        square.backward = [given](const Value&, const Value&) { return given; };
        return thrown([&] { to_tensor(square.forward(x)).sum().backward(); });
    };
    CHECK(why(list({})) ==
          "the backward of node `square` must give a list of 1 gradient, one for each tensor of its input "
          "and each parameter, and gave a list of 0");
    CHECK(why(Value(3)) ==
          "the backward of node `square` must give a list of 1 gradient, one for each tensor of its input "
          "and each parameter, and gave an int");
    CHECK(why(list({"x"})) == "the backward of node `square` gave a string as gradient 0, where a tensor or none goes");
    CHECK(why(list({from_tensor(at::ones({3}))})) ==
          "the backward of node `square` gave float32[3] on `cpu` as gradient 0, which is for float32[2] on `cpu`");
    CHECK(why(list({from_tensor(at::ones({2}, at::kDouble))})) ==
          "the backward of node `square` gave float64[2] on `cpu` as gradient 0, which is for float32[2] on `cpu`");
    CHECK(why(list({moved(from_tensor(at::ones({2})), meta)})) ==
          "the backward of node `square` gave float32[2] on `meta` as gradient 0, which is for float32[2] on `cpu`");
    square.backward = [](const Value&, const Value&) -> Value { throw std::runtime_error("out of ink"); };
    CHECK(thrown([&] { to_tensor(square.forward(x)).sum().backward(); }) ==
          "node `square` failed in its backward: out of ink");
    CHECK(square.runs == square.released);
}

TEST_CASE("a custom backward cannot be differentiated twice and says so") {
    Square square;
    const at::Tensor x = parameter(at::ones({2}));
    const at::Tensor y = to_tensor(square.forward(x)).sum();
    y.backward({}, /*retain_graph=*/true, /*create_graph=*/true);
    CHECK(nested(from_tensor(x.grad())) == list({2.0, 2.0}));
    const at::Tensor grad = x.grad();
    CHECK(grad.requires_grad());
    CHECK(thrown([&] { grad.sum().backward(); }) ==
          "node `square` cannot be differentiated twice: its backward computes with raw memory, of which autograd sees "
          "nothing");
    x.mutable_grad() = at::Tensor();
}

TEST_CASE("a custom backward whose saved values are gone or changed says so") {
    Square square;
    const at::Tensor x = parameter(at::ones({2}));
    const at::Tensor y = to_tensor(square.forward(x)).sum();
    y.backward();
    CHECK(has(thrown([&] { y.backward(); }), "node `square` cannot go backward a second time"));

    const at::Tensor again = to_tensor(square.forward(x)).sum();
    const auto saved_at = x._version();
    {
        const c10::AutoGradMode no_grad(false);
        x.add_(1);
    }
    CHECK(thrown([&] { again.backward(); }) ==
          "node `square` cannot go backward: a tensor that its forward saved was modified in place since (version " +
              std::to_string(saved_at + 1) + ", saved at " + std::to_string(saved_at) + ")");
}

TEST_CASE("a custom backward runs on another thread and outlives what made it") {
    auto square = std::make_unique<Square>();
    const at::Tensor x = parameter(at::ones({2}));
    std::optional<Value> y = square->forward(x);
    std::thread([&] {
        to_tensor(*y).sum().backward();
        y.reset();
    }).join();
    CHECK(square->released == 1);
    CHECK(nested(from_tensor(x.grad())) == list({2.0, 2.0}));
}

TEST_CASE("a long chain of custom backwards is freed without deep recursion") {
    Square square;
    square.backward = [](const Value&, const Value& grads) { return list({grads.at(0)}); };
    at::Tensor x = parameter(at::ones({1}));
    constexpr int length = 20000;
    for (int i = 0; i < length; ++i) x = to_tensor(square.attach(x, from_tensor(x.detach())));
    x = at::Tensor();
    CHECK(square.released == length);
}

TEST_CASE("the extension for plugins that link libtorch lends the tensor and takes one") {
    CHECK(engine().extension("soma.other/1") == nullptr);
    const auto* torch = static_cast<const soma_torch*>(engine().extension(SOMA_EXT_TORCH));
    REQUIRE(torch != nullptr);
    CHECK(torch->struct_size == sizeof(soma_torch));
    CHECK(std::string(torch->fingerprint) == engine().fingerprint);
    CHECK(std::string(engine().fingerprint).find("libtorch=") == 0);
    CHECK(std::string(engine().library).find("libtorch ") == 0);
    const at::Tensor x = at::ones({2});
    const Value value = from_tensor(x);
    const void* lent = nullptr;
    must(torch->tensor_get(nullptr, value.handle(), &lent));
    CHECK(static_cast<const at::Tensor*>(lent)->is_same(x));
    CHECK(x.use_count() == 2);
    const at::Tensor y = x + 1;
    soma_value* out = nullptr;
    must(torch->tensor_make(nullptr, &y, &out));
    CHECK(to_tensor(Value::adopt(out)).is_same(y));
    const at::Tensor undefined;
    must(torch->tensor_make(nullptr, &undefined, &out));
    CHECK(Value::adopt(out).is_none());
    CHECK(Refused(torch->tensor_get(nullptr, Value("x").handle(), &lent)).message == "wants a tensor, got a string");
    must(engine().generator(cpu, 5, &out));
    const Value generator = Value::adopt(out);
    must(torch->generator_get(nullptr, generator.handle(), &lent));
    CHECK(static_cast<const at::Generator*>(lent)->current_seed() == 5);
    must(torch->generator_make(nullptr, lent, &out));
    CHECK(to_generator(Value::adopt(out)) == to_generator(generator));
    const at::Generator none;
    CHECK(Refused(torch->generator_make(nullptr, &none, &out)).code == SOMA_INVALID_ARGUMENT);
}

TEST_CASE("the engine's table is complete and registered once") {
    CHECK(soma::detail::engine() == &engine());
    CHECK(engine().struct_size == sizeof(soma::detail::Engine));
    CHECK(engine().revision == soma::detail::engine_revision);
    const auto* slots = reinterpret_cast<const void* const*>(&engine().core_version);
    for (std::size_t i = 0;
         i < (sizeof(soma::detail::Engine) - offsetof(soma::detail::Engine, core_version)) / sizeof(void*); ++i) {
        CHECK(slots[i] != nullptr);
    }
}

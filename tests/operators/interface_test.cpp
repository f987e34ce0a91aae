// SPDX-License-Identifier: Apache-2.0
//
// Calls every operator of abi/operators.txt through the interface and directly, and compares what comes out.
// SOMATIZE_OPERATORS=FILE tries all that libtorch has instead and writes what was found; merge.sh makes the list of such
// files, one of each version of libtorch.
#include "operators/sweep.h"
#include "soma/detail/engine.h"
#include "soma/detail/status.h"
#include "soma/detail/value_rep.h"
#include "soma/torch.h"

#include <ATen/Parallel.h>

// After libtorch, whose headers may bring another CHECK.
#include "support/catch.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <stdexcept>

namespace {

using c10::IValue;
using operators::Outs;
using operators::Recipe;
using operators::Values;
using soma::Value;

soma_string text(std::string_view chars) { return {chars.data(), chars.size()}; }

void check(soma_status* failed) {
    if (failed == nullptr) return;
    const std::string message = soma::detail::full_message(failed);
    soma::detail::release_status(failed);
    throw std::runtime_error(message);
}

template <std::size_t N>
Value named(const std::array<const char*, N>& names, std::int64_t number, const char* what) {
    if (number < 0 || number >= static_cast<std::int64_t>(N)) {
        throw std::runtime_error(std::string("the test has no name for this ") + what);
    }
    return Value(names[static_cast<std::size_t>(number)]);
}

/// As a plugin writes a dtype, layout or memory format, which libtorch keeps as numbers.
Value named_number(const std::string& argument, std::int64_t number) {
    if (argument == "layout") return named(std::array{"strided", "sparse_coo"}, number, "layout");
    if (argument == "memory_format") {
        return named(std::array{"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}, number,
                     "memory format");
    }
    if (argument != "dtype" && argument != "output_dtype" && argument != "out_dtype") return Value(number);
    const Value like = soma::from_tensor(at::empty({0}, static_cast<at::ScalarType>(number)));
    soma_tensor_info info{};
    info.struct_size = sizeof info;
    check(soma::detail::require_engine().info(like.handle()->payload, &info));
    return Value(std::string_view(info.dtype.data, info.dtype.size));
}

/// What a plugin would pass for an argument. Throws when there is no such value.
Value to_value(const std::string& argument, const IValue& value) {
    if (value.isNone()) return {};
    if (value.isTensor()) return soma::from_tensor(value.toTensor());
    if (value.isBool()) return Value(value.toBool());
    if (value.isInt()) return named_number(argument, value.toInt());
    if (value.isDouble()) return Value(value.toDouble());
    if (value.isString()) return Value(value.toStringRef());
    if (value.isDevice()) return Value(value.toDevice().str());
    if (value.isGenerator()) return soma::from_generator(value.toGenerator());
    if (value.isList()) {
        std::vector<Value> items;
        for (const IValue& item : value.toListRef()) items.push_back(to_value("", item));
        return Value::list(std::move(items));
    }
    throw std::runtime_error("the interface has no value for the argument `" + argument + "`");
}

/// A result as libtorch would have given it directly, where the direct result is `like`.
IValue to_ivalue(const Value& value, const IValue& like) {
    if (like.isTensor()) return soma::to_tensor(value);
    if (like.isTensorList()) {
        c10::List<at::Tensor> list;
        for (std::size_t i = 0; i < value.size(); ++i) list.push_back(soma::to_tensor(value.at(i)));
        return list;
    }
    if (like.isBool()) return value.as_bool();
    if (like.isDouble()) return value.as_float();
    // A dtype comes as its name, and goes as its number.
    if (like.isInt() && value.kind() != soma::Kind::string) return value.as_int();
    if (like.isInt()) {
        return named_number("dtype", like.toInt()).as_string() == value.as_string() ? like : IValue(-1);
    }
    if (like.isIntList()) {
        c10::List<std::int64_t> list;
        for (std::size_t i = 0; i < value.size(); ++i) list.push_back(value.at(i).as_int());
        return list;
    }
    if (like.isNone() && value.is_none()) return {};
    throw std::runtime_error("the test cannot read the result");
}

/// Calls it as a plugin does.
std::vector<Value> call_through(const c10::OperatorHandle& op, const Values& arguments) {
    const soma::detail::Engine& engine = soma::detail::require_engine();
    const auto& schema = op.schema();
    const soma_operator* found = nullptr;
    check(engine.op_find(text(schema.name()), text(schema.overload_name()), &found));
    std::vector<Value> kept;
    std::vector<soma_value*> args;
    std::vector<soma_value*> named_values;
    std::vector<soma_string> names;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const auto& parameter = schema.arguments()[at];
        kept.push_back(to_value(parameter.name(), arguments[at]));
        if (parameter.kwarg_only()) {
            names.push_back(text(parameter.name()));
            named_values.push_back(kept.back().handle());
        } else {
            args.push_back(kept.back().handle());
        }
    }
    std::vector<soma_value*> results(schema.returns().size() + 1, nullptr);
    soma_call call{};
    call.struct_size = sizeof call;
    call.args = args.data();
    call.arg_count = static_cast<std::uint32_t>(args.size());
    call.names = names.data();
    call.named = named_values.data();
    call.named_count = static_cast<std::uint32_t>(names.size());
    call.results = results.data();
    call.result_capacity = static_cast<std::uint32_t>(results.size());
    at::manual_seed(11);
    check(engine.op_call(found, &call));
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < call.result_count; ++i) values.push_back(Value::adopt(results[i]));
    return values;
}

/// One try: "" when the CPU does not take these inputs, `pass`, or `fails: why`.
std::string attempt(const c10::OperatorHandle& op, const Recipe& recipe, const Outs& outs) {
    operators::Outcome direct;
    try {
        direct = operators::call(op, operators::arguments_for(op, recipe, outs));
    } catch (const std::exception&) {
        return {};
    }
    try {
        const Values arguments = operators::arguments_for(op, recipe, outs);
        const std::vector<Value> values = call_through(op, arguments);
        if (values.size() != direct.results.size()) return "fails: another number of results";
        Values results;
        for (std::size_t i = 0; i < values.size(); ++i) results.push_back(to_ivalue(values[i], direct.results[i]));
        const operators::Comparison compare{c10::kCPU, !operators::leaves_uninitialised(op)};
        std::string difference = compare.all(direct.results, results, "result");
        if (difference.empty()) difference = compare.all(direct.arguments, arguments, "argument");
        return difference.empty() ? "pass" : "fails: " + difference;
    } catch (const std::exception& error) {
        return std::string("fails: ") + error.what();
    }
}

std::set<std::string> listed() {
    std::set<std::string> names;
    std::ifstream file(SOMA_OPERATORS_LIST);
    std::string line;
    while (std::getline(file, line)) {
        if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
    }
    return names;
}

} // namespace

TEST_CASE("every operator of the list gives through the interface what it gives directly") {
    at::set_num_threads(1);
    const char* const write = std::getenv("SOMATIZE_OPERATORS");
    const std::set<std::string> names = listed();
    const auto tasks =
        operators::tasks_for([&](const std::string& name) { return write != nullptr || names.count(name) != 0; });
    const std::vector<std::string> results = operators::run_all(tasks, attempt);
    if (write != nullptr) {
        REQUIRE(operators::write_results(write, tasks, results));
        return;
    }
    CHECK(tasks.size() == names.size());
    CHECK(tasks.size() >= 200);
    for (std::size_t at = 0; at < tasks.size(); ++at) {
        INFO(operators::full_name(tasks[at].op));
        CHECK(results[at] == "pass");
    }
}

TEST_CASE("the SDK and the shipped plugins and the templates call only operators of the list") {
    const std::set<std::string> names = listed();
    // "aten::sum", "dim_IntList" or text("aten::mul"), text("Scalar")
    const std::regex use("\"aten::(\\w+)\"\\)?(, *(text\\()?\"(\\w*)\")?");
    std::size_t uses = 0;
    for (const char* folder : {"sdk", "plugins", "tests/abi/golden"}) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(std::string(SOMA_SOURCE) + "/" + folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".h" && extension != ".c" && extension != ".cpp") continue;
            std::ifstream file(entry.path());
            const std::string source{std::istreambuf_iterator<char>(file), {}};
            for (std::sregex_iterator found(source.begin(), source.end(), use), end; found != end; ++found) {
                const std::string name = (*found)[1].str() + ((*found)[4].length() != 0 ? "." + (*found)[4].str() : "");
                INFO(entry.path() << ": " << name);
                CHECK(names.count(name) == 1);
                ++uses;
            }
        }
    }
    CHECK(uses >= 80);
}

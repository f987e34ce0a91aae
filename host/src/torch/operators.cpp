// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "borrowed.h"
#include "compat.h"
#include "engine_table.h"
#include "failure.h"
#include "soma/suggest.h"
#include "values.h"

namespace soma::detail {

namespace {

constexpr std::size_t most_parameters = 63;

std::string_view view(soma_string text) noexcept { return {text.data, static_cast<std::size_t>(text.size)}; }

Want want_of(const c10::Type& type) {
    switch (type.kind()) {
    case c10::TypeKind::TensorType: return Want::tensor;
    case c10::TypeKind::NumberType: return Want::scalar;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return Want::integer;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::SymFloatType: return Want::real;
    case c10::TypeKind::BoolType: return Want::boolean;
    case c10::TypeKind::StringType: return Want::string;
    case c10::TypeKind::DeviceObjType: return Want::device;
    case c10::TypeKind::ScalarTypeType: return Want::dtype;
    case c10::TypeKind::LayoutType: return Want::layout;
    case c10::TypeKind::MemoryFormatType: return Want::memory_format;
    case c10::TypeKind::GeneratorType: return Want::generator;
    case c10::TypeKind::ListType: return Want::list;
    default: return Want::nothing;
    }
}

// The type below `T?`, and whether there was a `?`.
std::pair<c10::TypePtr, bool> strip_optional(const c10::TypePtr& type) {
    if (type->kind() != c10::TypeKind::OptionalType) return {type, false};
    return {type->expectRef<c10::OptionalType>().getElementType(), true};
}

bool is_written(const c10::Argument& argument) {
    const c10::AliasInfo* alias = argument.alias_info();
    if (alias == nullptr) return false;
    const auto& inner = alias->containedTypes();
    return alias->isWrite() || std::any_of(inner.begin(), inner.end(), [](const auto& one) { return one.isWrite(); });
}

Parameter parameter_of(const c10::Argument& argument) {
    Parameter parameter;
    parameter.name = argument.name();
    parameter.type = argument.real_type()->str();
    parameter.keyword_only = argument.kwarg_only();
    parameter.written = is_written(argument);
    parameter.fallback = argument.default_value() ? &*argument.default_value() : nullptr;
    const auto [type, optional] = strip_optional(argument.real_type());
    parameter.optional = optional;
    parameter.want = want_of(*type);
    parameter.symbolic = type->kind() == c10::TypeKind::SymIntType;
    if (parameter.want == Want::list) {
        const auto [item, item_optional] = strip_optional(type->expectRef<c10::ListType>().getElementType());
        parameter.symbolic = item->kind() == c10::TypeKind::SymIntType;
        parameter.item = want_of(*item);
        parameter.item_optional = item_optional;
        if (parameter.item == Want::list || parameter.item == Want::nothing) parameter.want = Want::nothing;
        parameter.length = argument.N() ? *argument.N() : 0;
    }
    return parameter;
}

std::string full_name(const std::string& function, const std::string& overload) {
    return overload.empty() ? function : function + "." + overload;
}

// A stack of arguments that this thread keeps between calls. Reached with one instruction, where the default model calls a
// function; null until the first call, and again once the thread ends.
struct Spare {
    torch::jit::Stack* stack;
    bool closed;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Spare spare{};

struct SpareOwner {
    ~SpareOwner() {
        std::default_delete<torch::jit::Stack>{}(std::exchange(spare.stack, nullptr));
        spare.closed = true;
    }
};

torch::jit::Stack* first_stack() {
    auto stack = std::make_unique<torch::jit::Stack>();
    if (!spare.closed) {
        thread_local SpareOwner owner;
        static_cast<void>(owner);
    }
    return stack.release();
}

// The thread's stack of arguments. It is taken while a call runs, so that an operator that calls back gets one of its own.
class Arguments {
public:
    Arguments() : stack(spare.stack != nullptr ? *std::exchange(spare.stack, nullptr) : *first_stack()) {}
    ~Arguments() {
        stack.clear();
        if (spare.stack == nullptr && !spare.closed) {
            spare.stack = &stack;
        } else {
            std::default_delete<torch::jit::Stack>{}(&stack);
        }
    }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    torch::jit::Stack& stack;
};

// Which value goes where; null pointers are values too (none), so presence is kept apart.
struct Given {
    std::array<soma_value*, most_parameters> values;
    std::uint64_t present = 0;
};

std::vector<std::string> parameter_names(const soma_operator& op) {
    std::vector<std::string> names;
    for (const Parameter& parameter : op.parameters) names.push_back(parameter.name);
    return names;
}

[[noreturn]] void refuse_count(const soma_operator& op, std::uint32_t count) {
    std::string by_name;
    for (std::size_t i = op.positional; i < op.parameters.size(); ++i) {
        by_name += fmt::format("{}`{}`", by_name.empty() ? "" : ", ", op.parameters[i].name);
    }
    throw Failure(SOMA_INVALID_ARGUMENT,
                  fmt::format("`{}` takes {} argument{} by position, {} were given{}", op.name, op.positional,
                              op.positional == 1 ? "" : "s", count,
                              by_name.empty() ? std::string() : "; by name it takes " + by_name));
}

[[noreturn]] void refuse_missing(const soma_operator& op, std::size_t index) {
    throw Failure(SOMA_INVALID_ARGUMENT,
                  fmt::format("`{}`: argument {} `{}` ({}) is missing and has no default", op.name, index + 1,
                              op.parameters[index].name, op.parameters[index].type));
}

void place_named(const soma_operator& op, const soma_call& call, Given& given) {
    for (std::uint32_t i = 0; i < call.named_count; ++i) {
        const std::string_view name = view(call.names[i]);
        const auto found = std::find_if(op.parameters.begin(), op.parameters.end(),
                                        [&](const Parameter& parameter) { return parameter.name == name; });
        if (found == op.parameters.end()) {
            throw Failure(SOMA_INVALID_ARGUMENT, fmt::format("`{}` has no argument `{}`{}", op.name, name,
                                                             did_you_mean(name, parameter_names(op))));
        }
        const auto index = static_cast<std::size_t>(found - op.parameters.begin());
        const std::uint64_t bit = std::uint64_t{1} << index;
        if ((given.present & bit) != 0) {
            throw Failure(SOMA_INVALID_ARGUMENT,
                          fmt::format("`{}`: argument {} `{}` is given twice", op.name, index + 1, name));
        }
        given.present |= bit;
        given.values[index] = call.named[i];
    }
}

void check_written(const soma_operator& op, const torch::jit::Stack& stack) {
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        if (!op.parameters[i].written) continue;
        if (stack[i].isTensor()) {
            if (stack[i].toTensor().defined()) check_writable(stack[i].toTensor(), op.writer.c_str());
        } else if (stack[i].isTensorList()) {
            for (const at::Tensor& tensor : stack[i].toTensorVector()) check_writable(tensor, op.writer.c_str());
        }
    }
}

void push_arguments(const soma_operator& op, const soma_call& call, torch::jit::Stack& stack) {
    if (call.arg_count > op.positional) refuse_count(op, call.arg_count);
    const std::size_t count = op.parameters.size();
    stack.reserve(count);
    for (std::uint32_t i = 0; i < call.arg_count; ++i) push_argument(stack, op, i, call.args[i]);
    Given given;
    if (call.named_count != 0) {
        given.present = (std::uint64_t{1} << call.arg_count) - 1;
        place_named(op, call, given);
    }
    for (std::size_t i = call.arg_count; i < count; ++i) {
        if ((given.present >> i & 1) != 0) {
            push_argument(stack, op, i, given.values[i]);
        } else if (op.parameters[i].fallback != nullptr) {
            stack.push_back(*op.parameters[i].fallback);
        } else {
            refuse_missing(op, i);
        }
    }
}

void take_results(const soma_operator& op, torch::jit::Stack& stack, soma_call& call) {
    // One result, the common case, needs nothing to be taken back when a later one fails.
    if (stack.size() == 1) {
        call.results[0] = take_result(std::move(stack[0]), op);
        call.result_count = 1;
        return;
    }
    std::vector<Value> results;
    results.reserve(stack.size());
    for (c10::IValue& result : stack) results.push_back(Value::adopt(take_result(std::move(result), op)));
    for (std::size_t i = 0; i < results.size(); ++i) call.results[i] = results[i].release();
    call.result_count = static_cast<std::uint32_t>(results.size());
}

// Every operator with a schema, as overloads by function. Slow: only for messages.
std::map<std::string, std::vector<std::string>> known_operators() {
    std::map<std::string, std::vector<std::string>> known;
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
        if (dispatcher.findSchema(name)) known[name.name].push_back(name.overload_name);
    }
    return known;
}

[[noreturn]] void refuse_unknown(std::string_view name, std::string_view overload) {
    auto known = known_operators();
    const auto found = known.find(std::string(name));
    if (found == known.end()) {
        std::vector<std::string> names;
        for (const auto& [function, overloads] : known) names.push_back(function);
        throw Failure(SOMA_NOT_FOUND,
                      fmt::format("this libtorch has no operator `{}`{}", name, did_you_mean(name, names)));
    }
    std::vector<std::string>& overloads = found->second;
    std::sort(overloads.begin(), overloads.end());
    std::string list;
    for (const std::string& one : overloads) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", one);
    throw Failure(SOMA_NOT_FOUND, fmt::format("`{}` has no overload `{}`{}; it has {}", name, overload,
                                              did_you_mean(overload, overloads), list));
}

const soma_operator* find_operator(std::string_view name, std::string_view overload) {
    // Operators are handed out for as long as the host lives, so the map outlives every static destructor.
    using Operators = std::map<std::pair<std::string, std::string>, soma_operator>;
    static std::mutex mutex;
    static Operators& operators = *std::make_unique<Operators>().release();
    const std::lock_guard lock(mutex);
    std::pair<std::string, std::string> key(name, overload);
    if (const auto known = operators.find(key); known != operators.end()) return &known->second;
    auto found = c10::Dispatcher::singleton().findSchema({key.first, key.second});
    if (!found) refuse_unknown(name, overload);
    return &operators.emplace(std::move(key), *found).first->second;
}

} // namespace

soma_status* engine_op_find(soma_string name, soma_string overload, const soma_operator** out) noexcept {
    return guarded([&] { *out = find_operator(view(name), view(overload)); });
}

soma_status* engine_op_call(const soma_operator* op, soma_call* call) noexcept {
    try {
        if (call->result_capacity < op->results) {
            throw Failure(SOMA_INVALID_ARGUMENT,
                          fmt::format("`{}` gives {} result{}, but there is room for {}", op->name, op->results,
                                      op->results == 1 ? "" : "s", call->result_capacity));
        }
        if (op->direct != nullptr && op->direct->call(*call)) return nullptr;
        Arguments arguments;
        push_arguments(*op, *call, arguments.stack);
        if (op->writes) check_written(*op, arguments.stack);
        op->handle.callBoxed(arguments.stack);
        take_results(*op, arguments.stack, *call);
        return nullptr;
    } catch (...) {
        return caught(op->name);
    }
}

} // namespace soma::detail

soma_operator::soma_operator(c10::OperatorHandle found)
    : handle(std::move(found)), name(soma::detail::full_name(handle.schema().name(), handle.schema().overload_name())),
      function(handle.schema().name()),
      // `add_` says by its name that it writes to its input; an `out` variant only by its overload.
      writer("`" + (function.back() == '_' ? function : name) + "`") {
    using namespace soma::detail;
    const c10::FunctionSchema& schema = handle.schema();
    if (schema.arguments().size() > most_parameters) {
        throw Failure(SOMA_UNIMPLEMENTED, fmt::format("`{}` has more than {} arguments", name, most_parameters));
    }
    for (const c10::Argument& argument : schema.arguments()) {
        parameters.push_back(parameter_of(argument));
        if (!argument.kwarg_only()) ++positional;
        writes = writes || parameters.back().written;
    }
    results = static_cast<std::uint32_t>(schema.returns().size());
    direct = find_direct(*this);
}

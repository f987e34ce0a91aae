// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <ATen/core/Generator.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <fmt/format.h>

#include "compat.h"
#include "dtype.h"
#include "failure.h"
#include "operators.h"
#include "places.h"
#include "soma/error.h"
#include "values.h"

namespace soma::detail {

namespace {

// What a person would call it. `many` is for "a list of …".
const char* wanted(Want want, bool many) noexcept {
    switch (want) {
    case Want::tensor: return many ? "Tensors" : "a Tensor";
    case Want::scalar: return many ? "Scalars" : "a Scalar (an int, float or bool)";
    case Want::integer: return many ? "ints" : "an int";
    case Want::real: return many ? "floats" : "a float";
    case Want::boolean: return many ? "bools" : "a bool";
    case Want::string: return many ? "strings" : "a string";
    case Want::device: return many ? "devices" : "a device such as \"cuda:0\"";
    case Want::dtype: return many ? "dtypes" : "a dtype such as \"float32\"";
    case Want::layout: return many ? "layouts" : "a layout such as \"strided\"";
    case Want::memory_format: return many ? "memory formats" : "a memory format such as \"channels_last\"";
    case Want::generator: return many ? "generators" : "a generator";
    case Want::list: return "a list";
    case Want::nothing: break;
    }
    return "something";
}

std::string wanted(const Parameter& parameter) {
    std::string text;
    if (parameter.want == Want::list) {
        text = parameter.length != 0
                   ? fmt::format("a list of {} {} or one of them", parameter.length, wanted(parameter.item, true))
                   : fmt::format("a list of {}", wanted(parameter.item, true));
        if (parameter.item_optional) text += " or none";
    } else {
        text = wanted(parameter.want, false);
    }
    if (parameter.optional) text += " or none";
    return text;
}

/// Names the argument, and the item of a list, in messages.
struct Where {
    const soma_operator& op;
    std::size_t index;
    std::ptrdiff_t item = -1;

    [[nodiscard]] const Parameter& parameter() const noexcept { return op.parameters[index]; }
    [[nodiscard]] std::string text() const {
        return fmt::format("`{}`: argument {} `{}`", op.name, index + 1, parameter().name);
    }
    [[nodiscard]] std::string at() const { return item < 0 ? std::string() : fmt::format(" at `[{}]`", item); }
};

[[noreturn]] void refuse_kind(const Where& where, const soma_value* value) {
    throw Failure(SOMA_TYPE_MISMATCH, fmt::format("{} wants {}, got {}{}", where.text(), wanted(where.parameter()),
                                                  kind_with_article(kind_of(value)), where.at()));
}

[[noreturn]] void refuse_text(const Where& where, std::string_view problem) {
    throw Failure(SOMA_INVALID_ARGUMENT, fmt::format("{}{}: {}", where.text(), where.at(), problem));
}

std::string_view text_of(const Where& where, soma_value* value, const Value& read) {
    if (kind_of(value) != SOMA_KIND_STRING) refuse_kind(where, value);
    return read.as_string();
}

std::int64_t int_of(const Where& where, const soma_value* value) {
    if (kind_of(value) != SOMA_KIND_INT) refuse_kind(where, value);
    return value->integer;
}

double float_of(const Where& where, const soma_value* value) {
    if (kind_of(value) == SOMA_KIND_FLOAT) return value->real;
    return static_cast<double>(int_of(where, value));
}

bool bool_of(const Where& where, const soma_value* value) {
    if (kind_of(value) != SOMA_KIND_BOOL) refuse_kind(where, value);
    return value->boolean;
}

at::Scalar scalar_of(const Where& where, const soma_value* value) {
    switch (kind_of(value)) {
    case SOMA_KIND_INT: return {value->integer};
    case SOMA_KIND_FLOAT: return {value->real};
    case SOMA_KIND_BOOL: return {value->boolean};
    default: refuse_kind(where, value);
    }
}

const at::Tensor& tensor_given(const Where& where, const soma_value* value) {
    if (kind_of(value) != SOMA_KIND_TENSOR) refuse_kind(where, value);
    return tensor_of(value);
}

c10::Device device_of(const Where& where, std::string_view text) {
    try {
        return parse_device(text);
    } catch (const DeviceError& error) {
        refuse_text(where, error.what());
    }
}

c10::ScalarType dtype_of(const Where& where, std::string_view text) {
    const std::optional<int> number = parse_dtype(text);
    if (!number) refuse_text(where, fmt::format("`{}` is not a dtype{}", text, dtype_hint(text)));
    if (*number >= static_cast<int>(c10::ScalarType::NumOptions)) {
        refuse_text(where, fmt::format("this libtorch has no dtype `{}`", text));
    }
    return static_cast<c10::ScalarType>(*number);
}

c10::Layout layout_of(const Where& where, std::string_view text) {
    const std::optional<int> number = parse_layout(text);
    if (!number) refuse_text(where, fmt::format("`{}` is not a layout{}", text, layout_hint(text)));
    if (*number >= static_cast<int>(c10::Layout::NumOptions)) {
        refuse_text(where, fmt::format("this libtorch has no layout `{}`", text));
    }
    return static_cast<c10::Layout>(*number);
}

c10::MemoryFormat memory_format_of(const Where& where, std::string_view text) {
    const std::optional<int> number = parse_memory_format(text);
    if (!number) refuse_text(where, fmt::format("`{}` is not a memory format{}", text, memory_format_hint(text)));
    return static_cast<c10::MemoryFormat>(*number);
}

template <typename Item, typename Convert>
c10::IValue make_list(Where& where, soma_value* value, Convert&& convert) {
    c10::List<Item> list;
    const auto length = where.parameter().length;
    if (kind_of(value) != SOMA_KIND_LIST) {
        // `int[2] stride` takes one int for both.
        if (length == 0) refuse_kind(where, value);
        list.reserve(static_cast<std::size_t>(length));
        for (std::int32_t i = 0; i < length; ++i) list.push_back(convert(value));
        return list;
    }
    const Reading read(value);
    const std::size_t count = read->size();
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        where.item = static_cast<std::ptrdiff_t>(i);
        list.push_back(convert(read->at(i).handle()));
    }
    return list;
}

c10::IValue list_of(Where where, soma_value* value) {
    switch (where.parameter().item) {
    case Want::tensor:
        if (where.parameter().item_optional) {
            return make_list<Maybe<at::Tensor>>(where, value, [&](const soma_value* item) {
                return kind_of(item) == SOMA_KIND_NONE ? Maybe<at::Tensor>()
                                                       : Maybe<at::Tensor>(tensor_given(where, item));
            });
        }
        return make_list<at::Tensor>(where, value, [&](const soma_value* item) { return tensor_given(where, item); });
    case Want::integer:
        return make_list<std::int64_t>(where, value, [&](const soma_value* item) { return int_of(where, item); });
    case Want::real:
        return make_list<double>(where, value, [&](const soma_value* item) { return float_of(where, item); });
    case Want::boolean:
        return make_list<bool>(where, value, [&](const soma_value* item) { return bool_of(where, item); });
    case Want::scalar:
        return make_list<at::Scalar>(where, value, [&](const soma_value* item) { return scalar_of(where, item); });
    case Want::string:
        return make_list<std::string>(where, value, [&](soma_value* item) {
            const Reading read(item);
            return std::string(text_of(where, item, *read));
        });
    default: refuse_text(where, fmt::format("no value can be a {}", where.parameter().type));
    }
}

c10::IValue convert(const Where& where, soma_value* value) {
    switch (where.parameter().want) {
    case Want::tensor: return tensor_given(where, value);
    case Want::scalar: return scalar_of(where, value);
    case Want::integer: return int_of(where, value);
    case Want::real: return float_of(where, value);
    case Want::boolean: return bool_of(where, value);
    case Want::string: return std::string(text_of(where, value, *Reading(value)));
    case Want::device: return device_of(where, text_of(where, value, *Reading(value)));
    case Want::dtype: return dtype_of(where, text_of(where, value, *Reading(value)));
    case Want::layout: return layout_of(where, text_of(where, value, *Reading(value)));
    case Want::memory_format: return memory_format_of(where, text_of(where, value, *Reading(value)));
    case Want::generator:
        if (kind_of(value) != SOMA_KIND_GENERATOR) refuse_kind(where, value);
        return at::Generator(
            c10::intrusive_ptr<c10::GeneratorImpl>::reclaim_copy(static_cast<c10::GeneratorImpl*>(value->payload)));
    case Want::list: return list_of(where, value);
    case Want::nothing: break;
    }
    refuse_text(where, fmt::format("no value can be a {}", where.parameter().type));
}

Value complex_value(c10::complex<double> number) { return Value::list({Value(number.real()), Value(number.imag())}); }

} // namespace

void push_argument(torch::jit::Stack& stack, const soma_operator& op, std::size_t index, soma_value* value) {
    const Parameter& parameter = op.parameters[index];
    const std::uint32_t kind = kind_of(value);
    // Most arguments are tensors where tensors are wanted.
    if (kind == SOMA_KIND_TENSOR && parameter.want == Want::tensor) {
        stack.emplace_back(tensor_of(value));
    } else if (kind == SOMA_KIND_NONE && parameter.optional) {
        stack.emplace_back();
    } else {
        stack.push_back(convert(Where{op, index}, value));
    }
}

soma_value* take_result(c10::IValue&& result, const soma_operator& op) {
    if (result.isTensor()) return give(std::move(result).toTensor());
    if (result.isInt()) return Value(result.toInt()).release();
    if (result.isDouble()) return Value(result.toDouble()).release();
    if (result.isBool()) return Value(result.toBool()).release();
    if (result.isNone()) return Value().release();
    if (result.isString()) return Value(result.toStringRef()).release();
    if (result.isDevice()) return Value(place_name(to_place(result.toDevice()))).release();
    if (result.isComplexDouble()) return complex_value(result.toComplexDouble()).release();
    if (is_symbolic_int(result)) return Value(symbolic_int(result)).release();
    if (result.isGenerator()) {
        return make_engine_value(SOMA_KIND_GENERATOR, std::move(result).toGenerator().unsafeReleaseGeneratorImpl());
    }
    std::vector<Value> items;
    const auto take = [&](const c10::IValue& item) {
        items.push_back(Value::adopt(take_result(c10::IValue(item), op)));
    };
    if (result.isTensorList()) {
        for (const at::Tensor& tensor : result.toTensorVector()) items.push_back(Value::adopt(give(tensor)));
    } else if (result.isIntList()) {
        for (const std::int64_t item : result.toIntVector()) items.emplace_back(item);
    } else if (result.isDoubleList()) {
        for (const double item : result.toDoubleVector()) items.emplace_back(item);
    } else if (result.isBoolList()) {
        for (const bool item : result.toBoolList()) items.emplace_back(item);
    } else if (result.isTuple()) {
        for (const c10::IValue& item : result.toTupleRef().elements()) take(item);
    } else if (result.isList()) {
        for (const c10::IValue& item : result.toListRef()) take(item);
    } else {
        throw Failure(SOMA_UNIMPLEMENTED,
                      fmt::format("`{}` gives a {}, which no value can be", op.name, result.tagKind()));
    }
    return Value::list(std::move(items)).release();
}

const char* kind_with_article(std::uint32_t kind) noexcept {
    switch (kind) {
    case SOMA_KIND_NONE: return "none";
    case SOMA_KIND_BOOL: return "a bool";
    case SOMA_KIND_INT: return "an int";
    case SOMA_KIND_FLOAT: return "a float";
    case SOMA_KIND_STRING: return "a string";
    case SOMA_KIND_BYTES: return "bytes";
    case SOMA_KIND_LIST: return "a list";
    case SOMA_KIND_DICT: return "a dict";
    case SOMA_KIND_TENSOR: return "a tensor";
    case SOMA_KIND_OPAQUE: return "an opaque value";
    case SOMA_KIND_GENERATOR: return "a generator";
    default: return "an unknown value";
    }
}

} // namespace soma::detail

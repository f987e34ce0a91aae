// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <fmt/format.h>

#include "dtype.h"
#include "engine_table.h"
#include "failure.h"
#include "values.h"

namespace soma::detail {

namespace {

// What libtorch's own iterators take.
constexpr std::size_t most_dimensions = 64;

template <typename Element>
Value read_elements(const Element*& element, at::IntArrayRef sizes) {
    if (sizes.empty()) return Value(*element++);
    std::vector<Value> items;
    items.reserve(static_cast<std::size_t>(sizes[0]));
    for (std::int64_t i = 0; i < sizes[0]; ++i) items.push_back(read_elements(element, sizes.slice(1)));
    return Value::list(std::move(items));
}

template <typename Element>
Value nested_values(const at::Tensor& tensor, c10::ScalarType type) {
    const at::Tensor flat = tensor.to(c10::Device(c10::DeviceType::CPU), type).contiguous();
    const Element* element = flat.data_ptr<Element>();
    return read_elements(element, flat.sizes());
}

Value to_lists(at::Tensor tensor) {
    if (tensor.is_meta()) throw Failure(SOMA_FAILED_PRECONDITION, "a tensor on `meta` holds no elements to read");
    if (tensor.is_nested()) {
        throw Failure(SOMA_UNIMPLEMENTED, "a nested tensor has no one shape; make it padded or a list of tensors");
    }
    tensor = tensor.detach();
    if (tensor.is_quantized()) tensor = tensor.dequantize();
    if (tensor.layout() != c10::kStrided) tensor = tensor.to_dense();
    tensor = tensor.resolve_conj().resolve_neg();
    const c10::ScalarType type = tensor.scalar_type();
    if (type == c10::ScalarType::Bool) return nested_values<bool>(tensor, type);
    if (c10::isComplexType(type)) {
        return nested_values<double>(at::view_as_real(tensor.to(c10::ScalarType::ComplexDouble)),
                                     c10::ScalarType::Double);
    }
    if (!c10::isIntegralType(type, /*includeBool=*/false))
        return nested_values<double>(tensor, c10::ScalarType::Double);
    if (const Dtype* dtype = find_dtype(static_cast<int>(type));
        dtype->dl.code == 1 && dtype->dl.bits == 64 && tensor.numel() > 0) {
        const at::Tensor values = tensor.to(c10::ScalarType::Long);
        if (values.lt(0).any().item<bool>()) {
            throw Failure(SOMA_OUT_OF_RANGE,
                          "the uint64 tensor has elements over 9223372036854775807, which no int holds");
        }
    }
    return nested_values<std::int64_t>(tensor, c10::ScalarType::Long);
}

std::string path_text(const std::vector<std::size_t>& path) {
    if (path.empty()) return "the value";
    std::string text = "`";
    for (const std::size_t index : path) text += fmt::format("[{}]", index);
    return text + "`";
}

/// Reads nested lists into one flat tensor, in two passes: the shape and the kind, then the elements.
class FromLists {
public:
    explicit FromLists(std::optional<c10::ScalarType> dtype) : dtype_(dtype) {}

    at::Tensor make(const Value& nested) {
        measure(nested);
        survey(nested, 0);
        const c10::ScalarType type = dtype_ ? *dtype_ : default_type();
        if (c10::isComplexType(type)) return make_complex(nested, type);
        set_bounds(type);
        // Ints keep all their digits on the way, whatever the tensor is to hold.
        return any_real_ && !whole_ ? fill<double>(nested, c10::ScalarType::Double).to(type)
                                    : fill<std::int64_t>(nested, c10::ScalarType::Long).to(type);
    }

private:
    // The first of everything gives the shape; `survey` finds what does not fit it.
    void measure(const Value& nested) {
        const Value* value = &nested;
        while (value->kind() == Kind::list) {
            if (shape_.size() == most_dimensions) {
                throw Failure(SOMA_INVALID_ARGUMENT,
                              fmt::format("the lists are nested deeper than {} levels", most_dimensions));
            }
            shape_.push_back(static_cast<std::int64_t>(value->size()));
            if (value->size() == 0) break;
            value = &value->at(0);
        }
    }

    void survey(const Value& value, std::size_t depth) {
        if (depth < shape_.size()) {
            if (value.kind() != Kind::list) refuse_ragged(value, depth);
            if (static_cast<std::int64_t>(value.size()) != shape_[depth]) refuse_ragged(value, depth);
            for (std::size_t i = 0, n = value.size(); i < n; ++i) {
                path_.push_back(i);
                survey(value.at(i), depth + 1);
                path_.pop_back();
            }
            return;
        }
        switch (value.kind()) {
        case Kind::boolean: any_bool_ = true; break;
        case Kind::integer: any_int_ = true; break;
        case Kind::real: any_real_ = true; break;
        case Kind::list: refuse_ragged(value, depth);
        default:
            throw Failure(SOMA_TYPE_MISMATCH,
                          fmt::format("a tensor is made of ints, floats and bools; {} is {}", path_text(path_),
                                      kind_with_article(static_cast<std::uint32_t>(value.kind()))));
        }
    }

    [[noreturn]] void refuse_ragged(const Value& value, std::size_t depth) const {
        std::vector<std::size_t> first(path_.size(), 0);
        const auto count = [](std::int64_t n) { return fmt::format("{} item{}", n, n == 1 ? "" : "s"); };
        const std::string got = value.kind() == Kind::list
                                    ? "a list of " + count(static_cast<std::int64_t>(value.size()))
                                    : std::string(kind_with_article(static_cast<std::uint32_t>(value.kind())));
        const std::string expected = depth < shape_.size() ? "a list of " + count(shape_[depth]) : "no list";
        throw Failure(SOMA_INVALID_ARGUMENT, fmt::format("the lists are ragged: {} is {} where {} is {}",
                                                         path_text(path_), got, path_text(first), expected));
    }

    // As torch.tensor decides it.
    [[nodiscard]] c10::ScalarType default_type() const {
        if (any_real_ || !(any_int_ || any_bool_)) return c10::get_default_dtype_as_scalartype();
        return any_int_ ? c10::ScalarType::Long : c10::ScalarType::Bool;
    }

    at::Tensor make_complex(const Value& nested, c10::ScalarType type) {
        if (shape_.empty() || shape_.back() != 2) {
            throw Failure(SOMA_INVALID_ARGUMENT,
                          "a complex number is written as a list of its real and imaginary part");
        }
        any_real_ = true;
        return at::view_as_complex(fill<double>(nested, c10::ScalarType::Double)).to(type);
    }

    template <typename Element>
    at::Tensor fill(const Value& nested, c10::ScalarType type) {
        at::Tensor tensor = at::empty(shape_, at::TensorOptions().dtype(type));
        auto* element = tensor.data_ptr<Element>();
        path_.clear();
        put(nested, 0, element);
        return tensor;
    }

    template <typename Element>
    void put(const Value& value, std::size_t depth, Element*& element) {
        if (depth < shape_.size()) {
            for (std::size_t i = 0, n = value.size(); i < n; ++i) {
                path_.push_back(i);
                put(value.at(i), depth + 1, element);
                path_.pop_back();
            }
            return;
        }
        if (value.kind() == Kind::boolean) {
            *element++ = value.as_bool() ? 1 : 0;
        } else if (value.kind() == Kind::integer) {
            check_range(value.as_int());
            check_finite(static_cast<double>(value.as_int()));
            *element++ = static_cast<Element>(value.as_int());
        } else {
            check_whole(value.as_float());
            check_finite(value.as_float());
            *element++ = static_cast<Element>(value.as_float());
        }
    }

    void set_bounds(c10::ScalarType type) {
        const Dtype& dtype = *find_dtype(static_cast<int>(type));
        name_ = dtype.name;
        whole_ = c10::isIntegralType(type, /*includeBool=*/true);
        switch (type) {
        case c10::ScalarType::Float: overflow_ = rounds_to_infinity(128, 24); break;
        case c10::ScalarType::Half: overflow_ = rounds_to_infinity(16, 11); break;
        case c10::ScalarType::BFloat16: overflow_ = rounds_to_infinity(128, 8); break;
        default: break;
        }
        if (!whole_) return;
        constexpr unsigned all_bits = 64;
        const bool is_signed = dtype.dl.code == 0;
        const unsigned bits = type == c10::ScalarType::Bool ? 1 : dtype.dl.bits;
        lowest_ = !is_signed         ? 0
                  : bits == all_bits ? std::numeric_limits<std::int64_t>::min()
                                     : -(std::int64_t{1} << (bits - 1));
        highest_ = bits == all_bits ? std::numeric_limits<std::int64_t>::max()
                   : is_signed      ? (std::int64_t{1} << (bits - 1)) - 1
                                    : (std::int64_t{1} << bits) - 1;
    }

    // The least number that a float of so many significant bits, all below 2^exponent, rounds to infinity.
    static double rounds_to_infinity(int exponent, int digits) {
        return std::ldexp(1.0, exponent) - std::ldexp(1.0, exponent - digits - 1);
    }

    void check_finite(double number) const {
        if (overflow_ == 0 || !std::isfinite(number) || std::abs(number) < overflow_) return;
        throw Failure(SOMA_OUT_OF_RANGE,
                      fmt::format("{} is {}, which does not fit {}", path_text(path_), number, name_));
    }

    void check_range(std::int64_t number) const {
        if (!whole_ || (number >= lowest_ && number <= highest_)) return;
        throw Failure(SOMA_OUT_OF_RANGE,
                      fmt::format("{} is {}, which does not fit {}", path_text(path_), number, name_));
    }

    void check_whole(double number) const {
        if (!whole_) return;
        // 2^63 is a double, the largest int64 is not.
        constexpr double limit = 9223372036854775808.0;
        if (std::trunc(number) != number || number < -limit || number >= limit) {
            throw Failure(SOMA_OUT_OF_RANGE, fmt::format("{} is {}, which is no {}", path_text(path_), number, name_));
        }
        check_range(static_cast<std::int64_t>(number));
    }

    std::optional<c10::ScalarType> dtype_;
    std::vector<std::int64_t> shape_;
    std::vector<std::size_t> path_;
    bool any_bool_ = false;
    bool any_int_ = false;
    bool any_real_ = false;
    bool whole_ = false; // the tensor is to hold ints within the bounds
    std::int64_t lowest_ = 0;
    std::int64_t highest_ = 0;
    double overflow_ = 0; // from there on, either way, it is finite no more; 0: it never is
    const char* name_ = "";
};

std::optional<c10::ScalarType> wanted_dtype(std::string_view name) {
    if (name.empty()) return std::nullopt;
    const std::optional<int> number = parse_dtype(name);
    if (!number) {
        throw Failure(SOMA_INVALID_ARGUMENT, fmt::format("`{}` is not a dtype{}", name, dtype_hint(name)));
    }
    const auto type = static_cast<c10::ScalarType>(*number);
    if (*number >= static_cast<int>(c10::ScalarType::NumOptions)) {
        throw Failure(SOMA_UNIMPLEMENTED, fmt::format("this libtorch has no dtype `{}`", name));
    }
    const bool from_numbers = c10::isFloatingType(type) || c10::isComplexType(type) ||
                              (c10::isIntegralType(type, /*includeBool=*/true) && find_dtype(*number)->dl.lanes == 1);
    if (!from_numbers) {
        throw Failure(SOMA_UNIMPLEMENTED, fmt::format("a tensor of `{}` cannot be made from a list", name));
    }
    return type;
}

} // namespace

soma_status* engine_to_nested(void* tensor, soma_value** out) noexcept {
    return guarded([&] {
        const c10::AutoGradMode no_grad(false);
        *out = to_lists(tensor_at(tensor)).release();
    });
}

soma_status* engine_from_nested(soma_value* nested, soma_string dtype, soma_value** out) noexcept {
    return guarded([&] {
        const c10::AutoGradMode no_grad(false);
        const c10::InferenceMode inference(false);
        FromLists lists(wanted_dtype({dtype.data, static_cast<std::size_t>(dtype.size)}));
        *out = give(lists.make(*Reading(nested)));
    });
}

} // namespace soma::detail

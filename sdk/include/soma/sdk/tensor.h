// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file tensor.h
/// `Tensor`: a Value known to be a tensor, on any device. What can be done with one is in ops.h.

#include <soma/sdk/operator.h>

#include <algorithm>
#include <cstddef>

namespace soma::sdk {

/// Sizes or dimensions, e.g. `{2, 3}`.
using Dims = std::vector<std::int64_t>;

/// A tensor's sizes or strides, borrowed while the tensor is held.
class Sizes {
public:
    /// `count` numbers.
    Sizes(const std::int64_t* data, std::size_t count) noexcept : data_{data}, count_{count} {}
    /// How many dimensions.
    std::size_t size() const noexcept { return count_; }
    /// The size of a dimension; not checked.
    std::int64_t operator[](std::size_t dim) const noexcept { return data_[dim]; }
    /// The first.
    const std::int64_t* begin() const noexcept { return data_; }
    /// Behind the last.
    const std::int64_t* end() const noexcept { return data_ + count_; }
    /// A copy.
    operator Dims() const { return {begin(), end()}; }
    /// "[2, 3]".
    std::string str() const {
        std::string text = "[";
        for (std::size_t i = 0; i < count_; ++i) text += (i == 0 ? "" : ", ") + std::to_string(data_[i]);
        return text + "]";
    }
    /// Whether they are the same.
    friend bool operator==(Sizes a, Sizes b) {
        return a.count_ == b.count_ && std::equal(a.begin(), a.end(), b.begin());
    }
    /// Whether they differ.
    friend bool operator!=(Sizes a, Sizes b) { return !(a == b); }

private:
    const std::int64_t* data_;
    std::size_t count_;
};

/// Whether two places are one.
inline bool same_place(soma_place a, soma_place b) noexcept { return a.kind == b.kind && a.index == b.index; }

namespace detail {
struct Checked {};
} // namespace detail

/// A tensor. Copying shares it. Comparison operators compare element by element, as everywhere in this field.
class Tensor : public Value {
public:
    /// No tensor; passes for none where an argument is optional.
    Tensor() noexcept = default;
    /// From a value that is one; `what` says which value is meant when it is not, e.g. "the input".
    explicit Tensor(Value value, std::string_view what = "the value") : Value{std::move(value)} {
        expect(Kind::tensor, what);
    }

    /// From a value that is known to be one.
    Tensor(Value value, detail::Checked) noexcept : Value{std::move(value)} {}

    /// Whether there is a tensor.
    bool defined() const noexcept { return get() != nullptr; }
    /// All facts at once; pointers in it are borrowed while the tensor is held.
    soma_tensor_info info() const {
        soma_tensor_info info{};
        info.struct_size = sizeof info;
        check(api().tensor_info(host(), get(), &info));
        return info;
    }
    /// Where it is, as torch writes it, e.g. "cuda:0". Lives as long as the host.
    std::string_view device() const { return detail::view(info().device); }
    /// Where it is, in numbers.
    soma_place place() const {
        // The struct's beginning is all that is asked for: the host then looks at nothing else.
        soma_tensor_info info;
        info.struct_size = offsetof(soma_tensor_info, device);
        check(api().tensor_info(host(), get(), &info));
        return info.place;
    }
    /// What its elements are, e.g. "float32". Lives as long as the host.
    std::string_view dtype() const { return detail::view(info().dtype); }
    /// Whether its elements are real floating point numbers.
    bool is_floating_point() const {
        const std::uint8_t code = info().dl_dtype.code;
        return code == 2 || code == 4;
    }
    /// Its sizes, borrowed while it is held.
    Sizes sizes() const {
        const soma_tensor_info facts = info();
        return {facts.sizes, facts.ndim};
    }
    /// The size of one dimension; a negative one counts from the last.
    std::int64_t size(std::int64_t dim) const {
        const Sizes all = sizes();
        const auto count = static_cast<std::int64_t>(all.size());
        const std::int64_t at = dim < 0 ? dim + count : dim;
        if (at < 0 || at >= count) {
            throw Error{Code::out_of_range, "dimension " + std::to_string(dim) + " of a tensor of sizes " + all.str()};
        }
        return all[static_cast<std::size_t>(at)];
    }
    /// How many dimensions it has.
    std::int64_t dim() const { return info().ndim; }
    /// How many elements it has.
    std::int64_t numel() const { return static_cast<std::int64_t>(info().numel); }
    /// Whether gradients reach it.
    bool requires_grad() const { return info().requires_grad != 0; }

    /// The one element of a tensor of one element; waits for the device.
    template <class T>
    T item() const {
        static const Operator op{"aten::item"};
        const Value number = op({*this});
        if constexpr (std::is_same_v<T, bool>) {
            return number.is(Kind::boolean) ? number.as_bool() : number.as_float() != 0;
        } else {
            if (number.is(Kind::boolean)) return static_cast<T>(number.as_bool());
            if (number.is(Kind::integer)) return static_cast<T>(number.as_int());
            return static_cast<T>(number.as_float());
        }
    }

    /// The same on another device; itself when it is there. Differentiable.
    Tensor to(std::string_view where) const {
        if (device() == where) return *this;
        return Tensor{Value::to(where)};
    }
};

/// Calls an operator by name, for what ops.h lacks: `call("aten::tril", "", {x, -1})`. Looks the name up each time; where
/// that matters keep a `static const Operator`.
inline Tensor call(std::string_view name, std::string_view overload, std::initializer_list<Argument> args,
                   std::initializer_list<Named> named = {}) {
    const std::string owned_name{name};
    const std::string owned_overload{overload};
    const Operator op{owned_name.c_str(), owned_overload.c_str()};
    return Tensor{op(args, named), "the result of " + owned_name};
}

/// The first tensor in a value, in order of appearance, or nothing.
inline std::optional<Tensor> first_tensor(const Value& value) {
    const Kind kind = value.kind();
    if (kind == Kind::tensor) return Tensor{value};
    if (kind != Kind::list && kind != Kind::dict) return std::nullopt;
    for (std::size_t i = 0, count = value.size(); i < count; ++i) {
        if (auto found = first_tensor(value.at(i))) return found;
    }
    return std::nullopt;
}

} // namespace soma::sdk

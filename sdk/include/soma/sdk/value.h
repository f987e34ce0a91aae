// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file value.h
/// `Value`: a counted reference to one immutable value of the host.

#include <soma/sdk/error.h>
#include <soma/sdk/kind.h>

#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace soma::sdk {

/// One value: none, bool, int, float, string, bytes, list, dict, tensor, opaque or generator. Copying adds a reference;
/// the value itself never changes. [any thread] Reading as another kind than it is throws Error, naming both.
class Value {
public:
    /// None.
    Value() noexcept = default;
    /// None.
    Value(std::nullptr_t) noexcept {}
    /// A bool, or an int of any width; an unsigned one beyond 63 bits throws.
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Value(T number) {
        if constexpr (std::is_same_v<T, bool>) {
            check(api().make_bool(host(), number ? 1 : 0, &handle_));
        } else {
            if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
                if (number > static_cast<T>(std::numeric_limits<std::int64_t>::max())) {
                    throw Error{Code::out_of_range, "the number " + std::to_string(number) + " does not fit 63 bits"};
                }
            }
            check(api().make_int(host(), static_cast<std::int64_t>(number), &handle_));
        }
    }
    /// A float.
    Value(double number) { check(api().make_float(host(), number, &handle_)); }
    /// A string; it must be UTF-8.
    Value(std::string_view text) { check(api().make_string(host(), detail::c_string(text), &handle_)); }
    /// A string; it must be UTF-8.
    Value(const std::string& text) : Value{std::string_view{text}} {}
    /// A string; it must be UTF-8.
    Value(const char* text) : Value{std::string_view{text}} {}
    /// A list, of anything a value can be made from.
    template <class T>
    Value(const std::vector<T>& items) {
        Made made{items.size()};
        for (const auto& item : items) made.add(Value{T(item)}.release());
        check(api().make_list(host(), made.handles(), made.count(), &handle_));
    }
    /// A list.
    Value(const std::vector<Value>& items) : Value{list_of(items)} {}
    /// What is in it, or none.
    template <class T>
    Value(const std::optional<T>& content) : Value{content ? Value{*content} : Value{}} {}

    /// Bytes, NULs included; they are copied.
    static Value bytes(const void* data, std::size_t size) {
        Value value;
        check(api().make_bytes(host(), data, size, &value.handle_));
        return value;
    }
    /// Takes over a reference.
    static Value adopt(soma_value* handle) noexcept { return Value{handle, Owned{}}; }
    /// Adds a reference to a borrowed handle.
    static Value retain(soma_value* handle) {
        return adopt(handle == nullptr ? nullptr : api().value_retain(host(), handle));
    }

    /// One more reference.
    Value(const Value& other) : Value{retain(other.handle_)} {}
    /// Leaves none behind.
    Value(Value&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
    /// Replaces the reference.
    Value& operator=(Value other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    /// One reference less.
    ~Value() {
        if (handle_ != nullptr && detail::binding.api != nullptr) detail::binding.api->value_release(host(), handle_);
    }

    /// The handle, borrowed; nullptr may stand for none.
    soma_value* get() const noexcept { return handle_; }
    /// The handle, never nullptr; it becomes the caller's.
    soma_value* release() {
        if (handle_ == nullptr) check(api().make_none(host(), &handle_));
        return std::exchange(handle_, nullptr);
    }

    /// What it is.
    Kind kind() const {
        return static_cast<Kind>(handle_ == nullptr ? SOMA_KIND_NONE : api().value_kind(host(), handle_));
    }
    /// Whether it is of that kind.
    bool is(Kind wanted) const { return kind() == wanted; }
    /// Whether it is none.
    bool is_none() const { return is(Kind::none); }
    /// Throws Error naming both kinds unless it is of that one; `what` says which value is meant, e.g. "the input".
    const Value& expect(Kind wanted, std::string_view what = "the value") const {
        if (!is(wanted)) refuse(wanted, what);
        return *this;
    }

    /// The bool it is.
    bool as_bool() const { return read<std::uint32_t>(api().get_bool) != 0; }
    /// The int it is.
    std::int64_t as_int() const { return read<std::int64_t>(api().get_int); }
    /// The float it is; an int converts.
    double as_float() const { return read<double>(api().get_float); }
    /// The text it is; borrowed while this value is held.
    std::string_view as_string() const { return detail::view(read<soma_string>(api().get_string)); }
    /// The bytes it is; borrowed while this value is held.
    std::string_view as_bytes() const {
        const void* data = nullptr;
        std::uint64_t size = 0;
        check(api().get_bytes(host(), handle_, &data, &size));
        return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
    }

    /// How many items a list, or entries a dict, has.
    std::size_t size() const { return static_cast<std::size_t>(read<std::uint64_t>(api().get_size)); }
    /// Item of a list, or value of a dict's entry, by position.
    Value at(std::size_t index) const {
        soma_value* item = nullptr;
        check(api().get_item(host(), handle_, index, &item));
        return retain(item);
    }
    /// Value of a dict's entry; a missing key throws and offers the nearest.
    Value at(std::string_view key) const {
        soma_value* item = nullptr;
        check(api().get_entry(host(), handle_, detail::c_string(key), &item));
        return retain(item);
    }
    /// Key of a dict's entry by position; borrowed while this value is held.
    std::string_view key(std::size_t index) const {
        soma_string key{};
        check(api().get_key(host(), handle_, index, &key));
        return detail::view(key);
    }
    /// Value of a dict's entry, or nothing when there is no such key.
    std::optional<Value> find(std::string_view wanted) const {
        for (std::size_t i = 0, count = size(); i < count; ++i) {
            if (key(i) == wanted) return at(i);
        }
        return std::nullopt;
    }
    /// The texts of a list of strings, without a reference each; borrowed while this value is held.
    std::vector<std::string_view> strings() const {
        std::vector<std::string_view> texts(size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            soma_value* item = nullptr;
            soma_string text{};
            check(api().get_item(host(), handle_, i, &item));
            check(api().get_string(host(), item, &text));
            texts[i] = detail::view(text);
        }
        return texts;
    }

    /// The same value with every tensor in it on `device`, e.g. "cuda:0". What is there already is shared, not copied.
    /// Differentiable.
    Value to(std::string_view device) const {
        Value moved;
        check(api().value_to(host(), handle_, detail::c_string(device), &moved.handle_));
        return moved;
    }

private:
    /// The items of a list about to be made: few as a rule, such as a tensor's sizes, so that they need no memory.
    class Made {
    public:
        explicit Made(std::size_t count) {
            if (count > few) many_.reserve(count);
        }
        ~Made() {
            for (std::size_t i = 0; i < count_; ++i) api().value_release(host(), handles()[i]);
        }
        Made(const Made&) = delete;
        Made& operator=(const Made&) = delete;

        void add(soma_value* item) {
            if (many_.capacity() == 0) {
                few_[count_] = item;
            } else {
                many_.push_back(item);
            }
            ++count_;
        }
        soma_value* const* handles() const noexcept { return many_.capacity() == 0 ? few_ : many_.data(); }
        std::size_t count() const noexcept { return count_; }

    private:
        static constexpr std::size_t few = 8;
        soma_value* few_[few]{};
        std::vector<soma_value*> many_;
        std::size_t count_ = 0;
    };

    struct Owned {};
    Value(soma_value* handle, Owned) noexcept : handle_{handle} {}

    // Apart from `expect`, which is on the way of every tensor.
    [[noreturn]] void refuse(Kind wanted, std::string_view what) const {
        throw Error{Code::type_mismatch, std::string{what} + " must be " + std::string{with_article(wanted)} +
                                             ", not " + std::string{with_article(kind())}};
    }

    template <class Out>
    Out read(soma_status*(SOMA_CALL* function)(soma_host*, const soma_value*, Out*)) const {
        Out out{};
        check(function(host(), handle_, &out));
        return out;
    }

    static Value list_of(const std::vector<Value>& items) {
        std::vector<soma_value*> handles;
        handles.reserve(items.size());
        for (const Value& item : items) handles.push_back(item.handle_);
        Value list;
        check(api().make_list(host(), handles.data(), handles.size(), &list.handle_));
        return list;
    }

    soma_value* handle_ = nullptr;
};

} // namespace soma::sdk

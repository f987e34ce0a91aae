// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/abi.h"
#include "soma/export.h"

namespace soma {

/// What a value is. The numbers are the ABI's.
enum class Kind : std::uint32_t {
    none = SOMA_KIND_NONE,
    boolean = SOMA_KIND_BOOL,
    integer = SOMA_KIND_INT,
    real = SOMA_KIND_FLOAT,
    string = SOMA_KIND_STRING,
    bytes = SOMA_KIND_BYTES,
    list = SOMA_KIND_LIST,
    dict = SOMA_KIND_DICT,
    tensor = SOMA_KIND_TENSOR,
    opaque = SOMA_KIND_OPAQUE,
    generator = SOMA_KIND_GENERATOR,
};

/// "none", "bool", "int", "float", "string", "bytes", "list", "dict", "tensor", "opaque" or "generator".
SOMA_API std::string_view to_string(Kind kind) noexcept;

/// An immutable value: what flows along the edges of a graph, configures a node, goes in and comes out.
///
/// A reference-counted handle, cheap to copy and safe to share between threads. Accessors that ask for another kind than
/// the value has throw `ValueError`, naming both. Tensors are made and read by soma/torch.h.
class SOMA_API Value {
public:
    /// None.
    Value() noexcept = default;
    /// Of `bool` itself only: a pointer would otherwise pass for one.
    template <std::same_as<bool> T>
    Value(T value) : Value(BoolTag{}, value) {}
    Value(double value); ///< A float.
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Value(T value) : Value(IntTag{}, static_cast<std::int64_t>(value)) {} ///< An int.
    /// Text must be UTF-8, else `ValueError`.
    Value(std::string_view text);
    Value(const std::string& text) : Value(std::string_view(text)) {} ///< A string.
    Value(const char* text) : Value(std::string_view(text)) {}        ///< A string.

    static Value bytes(std::span<const std::byte> data); ///< Bytes, copied.
    static Value list(std::vector<Value> items);         ///< A list.
    /// Keeps the order written. A key given twice is a `ValueError`.
    static Value dict(std::vector<std::pair<std::string, Value>> entries);
    /// A payload of a plugin type, destroyed with the last reference. `keep` lives at least as long.
    static Value opaque(const soma_opaque_type& type, void* payload, std::shared_ptr<const void> keep = {});

    Value(const Value& other) noexcept;                                               ///< The same value.
    Value(Value&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {} ///< Leaves none.
    /// By value: copies or moves, as the argument does.
    Value& operator=(Value other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Value() {
        if (handle_ != nullptr) drop();
    }

    [[nodiscard]] Kind kind() const noexcept;                                    ///< Which of them it is.
    [[nodiscard]] bool is_none() const noexcept { return kind() == Kind::none; } ///< Says nothing.
    // Reading another kind than asked for is a `ValueError` that names both.
    [[nodiscard]] bool as_bool() const;        ///< 0 or 1.
    [[nodiscard]] std::int64_t as_int() const; ///< 64 bits.
    /// Ints convert.
    [[nodiscard]] double as_float() const;
    /// Borrowed from the value; NUL-terminated.
    [[nodiscard]] std::string_view as_string() const;
    [[nodiscard]] std::span<const std::byte> as_bytes() const; ///< Borrowed from the value.
    /// Items of a list or entries of a dict; 0 for every other kind.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Item of a list, or value of a dict's entry, by index; `ValueError` when out of range.
    [[nodiscard]] const Value& at(std::size_t index) const;
    /// Key of a dict's entry by index; borrowed.
    [[nodiscard]] std::string_view key(std::size_t index) const;
    /// Value of a dict by key, or nullptr; nullptr for every other kind.
    [[nodiscard]] const Value* find(std::string_view key) const noexcept;
    /// Type id of an opaque value; empty for every other kind.
    [[nodiscard]] std::string_view opaque_type() const noexcept;

    /// Deep equality of everything that is not a tensor, opaque or a generator; those are equal when they are the same
    /// object. An int and a float are different kinds and never equal; a NaN equals a NaN. The order of a dict's entries
    /// does not count.
    SOMA_API friend bool operator==(const Value& a, const Value& b) noexcept;

    /// The ABI's handle, borrowed; never null (none is a handle too).
    [[nodiscard]] soma_value* handle() const noexcept;
    /// Takes over one reference; null is none.
    static Value adopt(soma_value* handle) noexcept {
        Value value;
        value.handle_ = handle;
        return value;
    }
    /// Adds a reference; null is none.
    static Value share(soma_value* handle) noexcept;
    /// Gives up the reference, for a caller that owes it to the ABI; the value becomes none.
    soma_value* release() noexcept { return handle_ != nullptr ? std::exchange(handle_, nullptr) : none(); }

private:
    void drop() noexcept;               ///< One reference less of a handle that is there.
    static soma_value* none() noexcept; ///< A reference to none.
    struct BoolTag {};
    struct IntTag {};
    Value(BoolTag, bool value);
    Value(IntTag, std::int64_t value);

    soma_value* handle_ = nullptr;
};

} // namespace soma

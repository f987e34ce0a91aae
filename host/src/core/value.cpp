// SPDX-License-Identifier: Apache-2.0
#include "soma/value.h"

#include <cmath>

#include <fmt/format.h>

#include "core/utf8.h"
#include "core/value_data.h"
#include "soma/error.h"

namespace soma {

using detail::BytesData;
using detail::data_of;
using detail::DictData;
using detail::kind_of;
using detail::ListData;
using detail::StringData;

namespace {

void expect(const soma_value* value, std::uint32_t kind) {
    if (kind_of(value) != kind) throw ValueError(detail::kind_mismatch(kind, kind_of(value)));
}

} // namespace

std::string_view to_string(Kind kind) noexcept {
    switch (kind) {
    case Kind::none: return "none";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return "string";
    case Kind::bytes: return "bytes";
    case Kind::list: return "list";
    case Kind::dict: return "dict";
    case Kind::tensor: return "tensor";
    case Kind::opaque: return "opaque";
    case Kind::generator: return "generator";
    }
    return "unknown";
}

std::string detail::kind_mismatch(std::uint32_t expected, std::uint32_t got) {
    return fmt::format("expected {}, got {}", to_string(static_cast<Kind>(expected)),
                       to_string(static_cast<Kind>(got)));
}

Value::Value(BoolTag, bool value) : handle_(detail::new_handle(SOMA_KIND_BOOL)) { handle_->boolean = value; }

Value::Value(double value) : handle_(detail::new_handle(SOMA_KIND_FLOAT)) { handle_->real = value; }

Value::Value(IntTag, std::int64_t value) : handle_(detail::new_handle(SOMA_KIND_INT)) { handle_->integer = value; }

Value::Value(std::string_view text) : handle_(detail::make_string_value(text)) {}

Value Value::bytes(std::span<const std::byte> data) {
    return adopt(detail::make_bytes_value(data.data(), data.size()));
}

Value Value::list(std::vector<Value> items) { return adopt(detail::make_list_value(std::move(items))); }

Value Value::dict(std::vector<std::pair<std::string, Value>> entries) {
    return adopt(detail::make_dict_value(std::move(entries)));
}

Value::Value(const Value& other) noexcept : handle_(other.handle_) {
    if (handle_ != nullptr) detail::retain(handle_);
}

void Value::drop() noexcept { detail::release(handle_); }

Kind Value::kind() const noexcept { return static_cast<Kind>(kind_of(handle_)); }

bool Value::as_bool() const {
    expect(handle_, SOMA_KIND_BOOL);
    return handle_->boolean;
}

std::int64_t Value::as_int() const {
    expect(handle_, SOMA_KIND_INT);
    return handle_->integer;
}

double Value::as_float() const {
    if (kind_of(handle_) == SOMA_KIND_INT) return static_cast<double>(handle_->integer);
    expect(handle_, SOMA_KIND_FLOAT);
    return handle_->real;
}

std::string_view Value::as_string() const {
    expect(handle_, SOMA_KIND_STRING);
    return data_of<StringData>(handle_);
}

std::span<const std::byte> Value::as_bytes() const {
    expect(handle_, SOMA_KIND_BYTES);
    return data_of<BytesData>(handle_);
}

std::size_t Value::size() const noexcept {
    switch (kind_of(handle_)) {
    case SOMA_KIND_LIST: return data_of<ListData>(handle_).items.size();
    case SOMA_KIND_DICT: return data_of<DictData>(handle_).entries.size();
    default: return 0;
    }
}

const Value& Value::at(std::size_t index) const {
    const std::uint32_t kind = kind_of(handle_);
    if (kind != SOMA_KIND_DICT) expect(handle_, SOMA_KIND_LIST);
    if (index >= size())
        throw ValueError(fmt::format("index {} is out of range: there {}", index,
                                     size() == 1 ? "is 1 item" : fmt::format("are {} items", size())));
    if (kind == SOMA_KIND_LIST) return data_of<ListData>(handle_).items[index];
    return data_of<DictData>(handle_).entries[index].second;
}

std::string_view Value::key(std::size_t index) const {
    expect(handle_, SOMA_KIND_DICT);
    const auto& entries = data_of<DictData>(handle_).entries;
    if (index >= entries.size()) {
        throw ValueError(
            fmt::format("index {} is out of range: there {}", index,
                        entries.size() == 1 ? "is 1 entry" : fmt::format("are {} entries", entries.size())));
    }
    return entries[index].first;
}

const Value* Value::find(std::string_view key) const noexcept {
    if (kind_of(handle_) != SOMA_KIND_DICT) return nullptr;
    const DictData::Entry* entry = data_of<DictData>(handle_).find(key);
    return entry == nullptr ? nullptr : &entry->second;
}

soma_value* Value::handle() const noexcept { return handle_ == nullptr ? detail::none_handle() : handle_; }

Value Value::share(soma_value* handle) noexcept {
    if (handle != nullptr) detail::retain(handle);
    return adopt(handle);
}

soma_value* Value::none() noexcept {
    soma_value* none = detail::none_handle();
    detail::retain(none);
    return none;
}

namespace {

// Equal as far as their own words go; what containers hold is left to the caller.
bool shallow_equal(const soma_value* a, const soma_value* b) noexcept {
    if (a == b) return true;
    if (kind_of(a) != kind_of(b)) return false;
    switch (kind_of(a)) {
    case SOMA_KIND_NONE: return true;
    case SOMA_KIND_BOOL: return a->boolean == b->boolean;
    case SOMA_KIND_INT: return a->integer == b->integer;
    // A NaN equals a NaN, else a value would not equal itself.
    case SOMA_KIND_FLOAT: return a->real == b->real || (std::isnan(a->real) && std::isnan(b->real));
    case SOMA_KIND_STRING: return data_of<StringData>(a) == data_of<StringData>(b);
    case SOMA_KIND_BYTES: return data_of<BytesData>(a) == data_of<BytesData>(b);
    case SOMA_KIND_LIST: return data_of<ListData>(a).items.size() == data_of<ListData>(b).items.size();
    case SOMA_KIND_DICT: return data_of<DictData>(a).entries.size() == data_of<DictData>(b).entries.size();
    default: return false; // another object, and no way to look inside
    }
}

struct Pair {
    const Value* a;
    const Value* b;
    std::size_t next;
};

} // namespace

// Keeps its own stack: values nest deeper than a thread's stack is.
bool operator==(const Value& a, const Value& b) noexcept {
    std::vector<Pair> open;
    const auto visit = [&](const Value& x, const Value& y) {
        if (!shallow_equal(x.handle_, y.handle_)) return false;
        if (x.handle_ != y.handle_ && x.size() > 0) open.push_back({&x, &y, 0});
        return true;
    };
    if (!visit(a, b)) return false;
    while (!open.empty()) {
        Pair& pair = open.back();
        if (pair.next == pair.a->size()) {
            open.pop_back();
            continue;
        }
        const std::size_t index = pair.next++;
        const Value& item = pair.a->at(index);
        const Value* other = pair.a->kind() == Kind::list ? &pair.b->at(index) : pair.b->find(pair.a->key(index));
        if (other == nullptr || !visit(item, *other)) return false;
    }
    return true;
}

} // namespace soma

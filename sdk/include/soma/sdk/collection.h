// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file collection.h
/// Building lists and dicts piece by piece, and walking through them.

#include <soma/sdk/value.h>

#include <initializer_list>

namespace soma::sdk {

/// A list under construction; it becomes a Value when handed on.
class List {
public:
    /// An empty list.
    List() = default;
    /// A list of these.
    List(std::initializer_list<Value> items) : items_{items} {}
    /// Makes room for `count` items.
    void reserve(std::size_t count) { items_.reserve(count); }
    /// Appends.
    List& add(Value item) {
        items_.push_back(std::move(item));
        return *this;
    }
    /// How many items so far.
    std::size_t size() const noexcept { return items_.size(); }
    /// The finished list.
    operator Value() const { return Value{items_}; }

private:
    std::vector<Value> items_;
};

/// A dict under construction; it becomes a Value when handed on. A key twice fails then.
class Dict {
public:
    /// One key and its value.
    struct Entry {
        std::string key; ///< UTF-8
        Value value;     ///< anything
    };
    /// An empty dict.
    Dict() = default;
    /// A dict of these.
    Dict(std::initializer_list<Entry> entries) : entries_{entries} {}
    /// Appends an entry.
    Dict& set(std::string_view key, Value value) {
        entries_.push_back({std::string{key}, std::move(value)});
        return *this;
    }
    /// The finished dict, its entries in the order they were set.
    operator Value() const {
        std::vector<soma_string> keys;
        std::vector<soma_value*> values;
        std::vector<Value> held;
        held.reserve(entries_.size());
        for (const Entry& entry : entries_) {
            keys.push_back(detail::c_string(entry.key));
            held.push_back(Value::adopt(Value{entry.value}.release()));
            values.push_back(held.back().get());
        }
        soma_value* dict = nullptr;
        check(api().make_dict(host(), keys.data(), values.data(), keys.size(), &dict));
        return Value::adopt(dict);
    }

private:
    std::vector<Entry> entries_;
};

/// The items of a list, or the values of a dict, for a range-based for.
class Items {
public:
    /// Walks through the items.
    class Iterator {
    public:
        /// At an item.
        Iterator(const Value* list, std::size_t index) : list_{list}, index_{index} {}
        /// The item.
        Value operator*() const { return list_->at(index_); }
        /// To the next one.
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        /// Whether it is elsewhere.
        bool operator!=(const Iterator& other) const { return index_ != other.index_; }

    private:
        const Value* list_;
        std::size_t index_;
    };
    /// Of a list or dict, kept alive meanwhile.
    explicit Items(Value list) : list_{std::move(list)}, size_{list_.size()} {}
    /// The first.
    Iterator begin() const { return {&list_, 0}; }
    /// Behind the last.
    Iterator end() const { return {&list_, size_}; }

private:
    Value list_;
    std::size_t size_;
};

} // namespace soma::sdk

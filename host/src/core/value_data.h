// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/detail/value_rep.h"
#include "soma/value.h"

namespace soma::detail {

/// What the payload of a list or dict begins with. `next` links containers whose turn to be freed has not come yet, so
/// that freeing needs neither a deep stack nor memory.
struct Container {
    soma_value* next = nullptr;
};

struct ListData : Container {
    std::vector<Value> items;
    ListData* next_spare = nullptr; ///< links lists that wait to be used again
};

struct DictData : Container {
    using Entry = std::pair<std::string, Value>;
    std::vector<Entry> entries;
    /// Indices of `entries` in the order of keys; only for dicts too long to search one by one.
    std::vector<std::uint32_t> by_key;

    [[nodiscard]] const Entry* find(std::string_view key) const noexcept;
};

struct OpaqueData {
    soma_opaque_type type{};
    void* payload = nullptr;
    soma_host* host = nullptr;
    std::shared_ptr<const void> keep;
};

using StringData = std::string;
using BytesData = std::vector<std::byte>;

/// The payload of a value whose kind is known to match.
template <class Data>
const Data& data_of(const soma_value* value) noexcept {
    return *static_cast<const Data*>(value->payload);
}

/// A fresh handle with one reference, from this thread's free list. Throws `std::bad_alloc`.
soma_value* new_handle(std::uint32_t kind);

/// The one value of kind none. Counts references like any other and is never freed.
soma_value* none_handle() noexcept;

/// An empty list to fill, if there is one with the memory of an earlier list of this thread.
std::unique_ptr<ListData> take_spare_list();
soma_value* make_list_value(std::unique_ptr<ListData> list);

/// A list or dict that takes over what it is made of. The dict throws `ValueError` for a key given twice or not UTF-8.
soma_value* make_list_value(std::vector<Value> items);
soma_value* make_dict_value(std::vector<DictData::Entry> entries);
/// Throws `ValueError` when the text is not UTF-8.
soma_value* make_string_value(std::string_view text);
soma_value* make_bytes_value(const void* data, std::size_t size);

/// The kind of a handle that may be anything; `none` for null. 0 for a handle that was freed, as far as can be told.
inline std::uint32_t kind_of(const soma_value* value) noexcept {
    return value == nullptr ? static_cast<std::uint32_t>(SOMA_KIND_NONE) : value->kind;
}

/// "expected string, got int".
std::string kind_mismatch(std::uint32_t expected, std::uint32_t got);

} // namespace soma::detail

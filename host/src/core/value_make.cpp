// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/utf8.h"
#include "core/value_data.h"
#include "soma/detail/engine.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

// Below this many entries, comparing one by one is faster than a search.
constexpr std::size_t index_from = 9;

// Owns a payload until the handle that takes it is there.
template <class Data>
soma_value* make_handle(std::uint32_t kind, std::unique_ptr<Data> data) {
    soma_value* value = new_handle(kind);
    value->payload = data.release();
    return value;
}

[[noreturn]] void key_twice(std::string_view key) {
    throw ValueError(fmt::format("key `{}` is given twice; a dict has each key once", key));
}

} // namespace

const DictData::Entry* DictData::find(std::string_view key) const noexcept {
    if (by_key.empty()) {
        const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.first == key; });
        return it == entries.end() ? nullptr : &*it;
    }
    const auto it = std::lower_bound(by_key.begin(), by_key.end(), key,
                                     [&](std::uint32_t i, std::string_view k) { return entries[i].first < k; });
    return it == by_key.end() || entries[*it].first != key ? nullptr : &entries[*it];
}

soma_value* make_string_value(std::string_view text) {
    if (!is_utf8(text)) throw ValueError("the text is " + describe_utf8_error(text));
    return make_handle(SOMA_KIND_STRING, std::make_unique<StringData>(text));
}

soma_value* make_bytes_value(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    return make_handle(SOMA_KIND_BYTES,
                       size == 0 ? std::make_unique<BytesData>() : std::make_unique<BytesData>(first, first + size));
}

soma_value* make_list_value(std::vector<Value> items) {
    auto data = std::make_unique<ListData>();
    data->items = std::move(items);
    return make_list_value(std::move(data));
}

soma_value* make_list_value(std::unique_ptr<ListData> list) { return make_handle(SOMA_KIND_LIST, std::move(list)); }

soma_value* make_dict_value(std::vector<DictData::Entry> entries) {
    for (const auto& [key, value] : entries) {
        if (!is_utf8(key)) throw ValueError("a key is " + describe_utf8_error(key));
    }
    auto data = std::make_unique<DictData>();
    data->entries = std::move(entries);
    const auto& list = data->entries;
    if (list.size() < index_from) {
        for (std::size_t i = 1; i < list.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (list[i].first == list[j].first) key_twice(list[i].first);
            }
        }
    } else {
        data->by_key.resize(list.size());
        std::iota(data->by_key.begin(), data->by_key.end(), 0u);
        std::sort(data->by_key.begin(), data->by_key.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return list[a].first < list[b].first; });
        const auto twice = std::adjacent_find(data->by_key.begin(), data->by_key.end(),
                                              [&](auto a, auto b) { return list[a].first == list[b].first; });
        if (twice != data->by_key.end()) key_twice(list[*twice].first);
    }
    return make_handle(SOMA_KIND_DICT, std::move(data));
}

soma_value* make_engine_value(std::uint32_t kind, void* payload) {
    try {
        soma_value* value = new_handle(kind);
        value->payload = payload;
        return value;
    } catch (...) {
        engine()->release(kind, payload);
        throw;
    }
}

} // namespace soma::detail

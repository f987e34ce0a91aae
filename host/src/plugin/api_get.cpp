// SPDX-License-Identifier: Apache-2.0
// Reading values, for plugins.
#include "plugin/api.h"
#include "plugin/api_check.h"
#include "soma/suggest.h"

namespace soma::detail::api {

namespace {

// What every function that reads something checks.
soma_status* check(const soma_host* host, const soma_value* value, const void* out,
                   std::string_view function) noexcept {
    if (!is_live(host)) return wrong_host(host, function);
    if (!is_handle(value)) return wrong_handle(value, function, "value");
    if (out == nullptr) return null_pointer(function, "out");
    return nullptr;
}

soma_status* check(const soma_host* host, const soma_value* value, const void* out, std::uint32_t kind,
                   std::string_view function) noexcept {
    if (soma_status* wrong = check(host, value, out, function)) return wrong;
    return value->kind == kind ? nullptr : wrong_kind(function, kind, value->kind);
}

soma_status* out_of_range(std::string_view function, std::uint64_t index, std::size_t size, std::string_view one,
                          std::string_view many) noexcept {
    try {
        return fail(SOMA_OUT_OF_RANGE, function,
                    fmt::format("index {} is out of range: there {} {} {}", index, size == 1 ? "is" : "are", size,
                                size == 1 ? one : many));
    } catch (...) {
        return out_of_memory_status();
    }
}

} // namespace

soma_status* get_bool(soma_host* host, const soma_value* value, std::uint32_t* out) {
    if (soma_status* wrong = check(host, value, out, SOMA_KIND_BOOL, "get_bool")) return wrong;
    *out = value->boolean ? 1 : 0;
    return nullptr;
}

soma_status* get_int(soma_host* host, const soma_value* value, std::int64_t* out) {
    if (soma_status* wrong = check(host, value, out, SOMA_KIND_INT, "get_int")) return wrong;
    *out = value->integer;
    return nullptr;
}

soma_status* get_float(soma_host* host, const soma_value* value, double* out) {
    if (soma_status* wrong = check(host, value, out, "get_float")) return wrong;
    if (value->kind == SOMA_KIND_INT) {
        *out = static_cast<double>(value->integer);
        return nullptr;
    }
    if (value->kind != SOMA_KIND_FLOAT) return wrong_kind("get_float", SOMA_KIND_FLOAT, value->kind);
    *out = value->real;
    return nullptr;
}

soma_status* get_string(soma_host* host, const soma_value* value, soma_string* out) {
    if (soma_status* wrong = check(host, value, out, SOMA_KIND_STRING, "get_string")) return wrong;
    *out = text_of(data_of<StringData>(value));
    return nullptr;
}

soma_status* get_bytes(soma_host* host, const soma_value* value, const void** data, std::uint64_t* size) {
    if (soma_status* wrong = check(host, value, data, SOMA_KIND_BYTES, "get_bytes")) return wrong;
    if (size == nullptr) return null_pointer("get_bytes", "size");
    *data = data_of<BytesData>(value).data();
    *size = data_of<BytesData>(value).size();
    return nullptr;
}

soma_status* get_size(soma_host* host, const soma_value* value, std::uint64_t* out) {
    if (soma_status* wrong = check(host, value, out, "get_size")) return wrong;
    switch (value->kind) {
    case SOMA_KIND_LIST: *out = data_of<ListData>(value).items.size(); return nullptr;
    case SOMA_KIND_DICT: *out = data_of<DictData>(value).entries.size(); return nullptr;
    default: return wrong_kind("get_size", SOMA_KIND_LIST, value->kind);
    }
}

soma_status* get_item(soma_host* host, const soma_value* value, std::uint64_t index, soma_value** out) {
    if (soma_status* wrong = check(host, value, out, "get_item")) return wrong;
    switch (value->kind) {
    case SOMA_KIND_LIST: {
        const auto& items = data_of<ListData>(value).items;
        if (index >= items.size()) return out_of_range("get_item", index, items.size(), "item", "items");
        *out = items[index].handle();
        return nullptr;
    }
    case SOMA_KIND_DICT: {
        const auto& entries = data_of<DictData>(value).entries;
        if (index >= entries.size()) return out_of_range("get_item", index, entries.size(), "entry", "entries");
        *out = entries[index].second.handle();
        return nullptr;
    }
    default: return wrong_kind("get_item", SOMA_KIND_LIST, value->kind);
    }
}

soma_status* get_key(soma_host* host, const soma_value* value, std::uint64_t index, soma_string* out) {
    if (soma_status* wrong = check(host, value, out, SOMA_KIND_DICT, "get_key")) return wrong;
    const auto& entries = data_of<DictData>(value).entries;
    if (index >= entries.size()) return out_of_range("get_key", index, entries.size(), "entry", "entries");
    *out = text_of(entries[index].first);
    return nullptr;
}

soma_status* get_entry(soma_host* host, const soma_value* value, soma_string key, soma_value** out) {
    if (soma_status* wrong = check(host, value, out, SOMA_KIND_DICT, "get_entry")) return wrong;
    if (!is_readable(key)) return wrong_string("get_entry", "key");
    const auto& data = data_of<DictData>(value);
    if (const DictData::Entry* entry = data.find(view(key))) {
        *out = entry->second.handle();
        return nullptr;
    }
    return guarded("get_entry", [&] {
        std::vector<std::string> keys;
        keys.reserve(data.entries.size());
        for (const auto& entry : data.entries) keys.push_back(entry.first);
        return fail(SOMA_NOT_FOUND, "get_entry",
                    fmt::format("there is no key `{}`{}", view(key), did_you_mean(view(key), keys)));
    });
}

soma_status* get_opaque(soma_host* host, const soma_value* value, soma_string type_id, void** payload) {
    if (soma_status* wrong = check(host, value, payload, SOMA_KIND_OPAQUE, "get_opaque")) return wrong;
    if (!is_readable(type_id)) return wrong_string("get_opaque", "type_id");
    const auto& data = data_of<OpaqueData>(value);
    if (view(data.type.type_id) != view(type_id)) {
        return guarded("get_opaque", [&] {
            return fail(SOMA_TYPE_MISMATCH, "get_opaque",
                        fmt::format("expected an opaque value of type `{}`, got one of type `{}`", view(type_id),
                                    view(data.type.type_id)));
        });
    }
    *payload = data.payload;
    return nullptr;
}

} // namespace soma::detail::api

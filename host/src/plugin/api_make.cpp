// SPDX-License-Identifier: Apache-2.0
// Making values, for plugins.
#include "core/opaque.h"
#include "core/utf8.h"
#include "plugin/api.h"
#include "plugin/api_check.h"

namespace soma::detail::api {

namespace {

// What every function that makes something checks.
soma_status* check(const soma_host* host, const void* out, std::string_view function) noexcept {
    if (!is_live(host)) return wrong_host(host, function);
    if (out == nullptr) return null_pointer(function, "out");
    return nullptr;
}

} // namespace

soma_value* value_retain(soma_host* host, soma_value* value) {
    if (!is_live(host) && !check_or_complain(host, "value_retain")) return value;
    if (value == nullptr) return value;
    if (!is_handle(value)) {
        complain(host, "value_retain", "the value was released already");
        return value;
    }
    retain(value);
    return value;
}

void value_release(soma_host* host, soma_value* value) {
    if (!is_live(host) && !check_or_complain(host, "value_release")) return;
    if (value == nullptr) return;
    if (!is_handle(value)) {
        complain(host, "value_release", "the value was released already");
        return;
    }
    if (!drop_reference(value)) return;
    const PluginCall here; // what is freed may be a plugin's
    destroy_value(value);
}

std::uint32_t value_kind(soma_host* host, const soma_value* value) {
    if (!is_live(host) && !check_or_complain(host, "value_kind")) return SOMA_KIND_NONE;
    if (value != nullptr && !is_handle(value)) complain(host, "value_kind", "the value was released already");
    return is_handle(value) ? value->kind : SOMA_KIND_NONE;
}

soma_status* make_none(soma_host* host, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_none")) return wrong;
    *out = none_handle();
    retain(*out);
    return nullptr;
}

soma_status* make_bool(soma_host* host, std::uint32_t value, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_bool")) return wrong;
    return guarded("make_bool", [&]() -> soma_status* {
        *out = Value(value != 0).release();
        return nullptr;
    });
}

soma_status* make_int(soma_host* host, std::int64_t value, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_int")) return wrong;
    return guarded("make_int", [&]() -> soma_status* {
        *out = new_handle(SOMA_KIND_INT);
        (*out)->integer = value;
        return nullptr;
    });
}

soma_status* make_float(soma_host* host, double value, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_float")) return wrong;
    return guarded("make_float", [&]() -> soma_status* {
        *out = Value(value).release();
        return nullptr;
    });
}

soma_status* make_string(soma_host* host, soma_string text, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_string")) return wrong;
    if (!is_readable(text)) return wrong_string("make_string", "text");
    return guarded("make_string", [&]() -> soma_status* {
        *out = make_string_value(view(text));
        return nullptr;
    });
}

soma_status* make_bytes(soma_host* host, const void* data, std::uint64_t size, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_bytes")) return wrong;
    if (!is_readable({static_cast<const char*>(data), size})) return wrong_string("make_bytes", "data");
    return guarded("make_bytes", [&]() -> soma_status* {
        *out = make_bytes_value(data, size);
        return nullptr;
    });
}

namespace {

// A new reference to what a plugin passed as a part of something; NULL is none.
Value part(soma_value* value, std::string_view what, std::uint64_t index) {
    if (value != nullptr && !is_handle(value)) {
        throw ValueError(fmt::format("{} {} was released already", what, index));
    }
    return Value::share(value);
}

} // namespace

soma_status* make_list(soma_host* host, soma_value* const* items, std::uint64_t count, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_list")) return wrong;
    if (items == nullptr && count > 0) return null_pointer("make_list", "items");
    return guarded("make_list", [&]() -> soma_status* {
        auto list = take_spare_list();
        list->items.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) list->items.push_back(part(items[i], "item", i));
        *out = make_list_value(std::move(list));
        return nullptr;
    });
}

soma_status* make_dict(soma_host* host, const soma_string* keys, soma_value* const* values, std::uint64_t count,
                       soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_dict")) return wrong;
    if (keys == nullptr && count > 0) return null_pointer("make_dict", "keys");
    if (values == nullptr && count > 0) return null_pointer("make_dict", "values");
    return guarded("make_dict", [&]() -> soma_status* {
        std::vector<DictData::Entry> entries;
        entries.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!is_readable(keys[i])) return wrong_string("make_dict", fmt::format("key {}", i));
            entries.emplace_back(view(keys[i]), part(values[i], "value", i));
        }
        *out = make_dict_value(std::move(entries));
        return nullptr;
    });
}

soma_status* make_opaque(soma_host* host, const soma_opaque_type* type, void* payload, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_opaque")) return wrong;
    if (type == nullptr) return null_pointer("make_opaque", "type");
    return guarded("make_opaque", [&]() -> soma_status* {
        *out = make_opaque_value(*type, payload, host, host->plugin.lock());
        return nullptr;
    });
}

} // namespace soma::detail::api

// SPDX-License-Identifier: Apache-2.0
#include "core/opaque.h"

#include "core/status_guard.h"
#include "core/utf8.h"
#include "plugin/host.h"
#include "plugin/loaded_plugin.h"
#include "soma/detail/opaque.h"
#include "soma/detail/status.h"
#include "soma/error.h"
#include "soma/log.h"

namespace soma {

namespace {

std::string_view view(soma_string text) noexcept { return {text.size == 0 ? "" : text.data, text.size}; }

} // namespace

void detail::destroy_opaque(OpaqueData* raw) noexcept {
    std::unique_ptr<OpaqueData> data(raw);
    try {
        data->type.destroy(data->payload);
    } catch (const std::exception& error) {
        log(LogLevel::error, data->host->name, {},
            std::string("`destroy` of an opaque value threw, which no plugin function may: ") + error.what());
    } catch (...) {
        log(LogLevel::error, data->host->name, {}, "`destroy` of an opaque value threw, which no plugin function may");
    }
    data.reset();
    // It may have held the last value of another plugin, which could not go while it was itself at work.
    unload_deferred();
}

soma_value* detail::make_opaque_value(const soma_opaque_type& type, void* payload, soma_host* host,
                                      std::shared_ptr<const void> keep) {
    if (!SOMA_HAS(&type, soma_opaque_type, destroy)) {
        throw ValueError("the opaque type's struct_size is " + std::to_string(type.struct_size) +
                         ", too small to hold `destroy`; set it to sizeof(soma_opaque_type)");
    }
    if (type.type_id.size == 0 || type.type_id.data == nullptr) {
        throw ValueError("the opaque type has no type_id; give it one such as \"vendor.name/1\"");
    }
    if (!is_utf8(view(type.type_id))) {
        throw ValueError("the opaque type's type_id is " + describe_utf8_error(view(type.type_id)));
    }
    if (type.destroy == nullptr) {
        throw ValueError("the opaque type `" + std::string(view(type.type_id)) + "` has no `destroy`");
    }
    auto data = std::make_unique<OpaqueData>();
    data->type.struct_size = sizeof(soma_opaque_type);
    data->type.type_id = type.type_id;
    data->type.destroy = type.destroy;
    if (SOMA_HAS(&type, soma_opaque_type, place)) data->type.place = type.place;
    data->payload = payload;
    data->host = host != nullptr ? host : program_host();
    data->keep = std::move(keep);
    soma_value* value = new_handle(SOMA_KIND_OPAQUE);
    value->payload = data.release();
    return value;
}

soma_place detail::opaque_place(const soma_value* value) {
    const auto& data = data_of<OpaqueData>(value);
    soma_place place{SOMA_DEVICE_NONE, 0};
    if (data.type.place == nullptr) return place;
    soma_status* status = nullptr;
    try {
        status = data.type.place(data.host, data.payload, &place);
    } catch (...) {
        status = status_from_exception(data.host->name);
    }
    if (status == nullptr) return place;
    const StatusGuard failure(status);
    throw ValueError("plugin `" + data.host->name + "` could not say where an opaque value of type `" +
                     std::string(view(data.type.type_id)) + "` is: " + full_message(status));
}

Value Value::opaque(const soma_opaque_type& type, void* payload, std::shared_ptr<const void> keep) {
    return adopt(detail::make_opaque_value(type, payload, nullptr, std::move(keep)));
}

std::string_view Value::opaque_type() const noexcept {
    if (detail::kind_of(handle_) != SOMA_KIND_OPAQUE) return {};
    return view(detail::data_of<detail::OpaqueData>(handle_).type.type_id);
}

} // namespace soma

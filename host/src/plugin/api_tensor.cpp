// SPDX-License-Identifier: Apache-2.0
// Tensors, for plugins: all of it is the engine's, loaded when first needed.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "core/engine_now.h"
#include "core/engine_text.h"
#include "core/status_guard.h"
#include "plugin/api.h"
#include "plugin/api_check.h"
#include "plugin/host.h"
#include "soma/detail/engine.h"
#include "soma/detail/opaque.h"
#include "soma/detail/rebuild.h"
#include "soma/detail/run_context.h"
#include "soma/device.h"
#include "soma/plugin.h"

namespace soma::detail::api {

namespace {

soma_status* check(const soma_host* host, const void* out, std::string_view function,
                   std::string_view argument) noexcept {
    if (!is_live(host)) return wrong_host(host, function);
    if (out == nullptr) return null_pointer(function, argument);
    return nullptr;
}

soma_status* check_tensor(const soma_value* value, std::string_view function, std::string_view argument) noexcept {
    if (!is_handle(value)) return wrong_handle(value, function, argument);
    return value->kind == SOMA_KIND_TENSOR ? nullptr : wrong_kind(function, SOMA_KIND_TENSOR, value->kind);
}

soma_status* too_small(std::string_view function, std::string_view what, std::uint32_t size) {
    return fail(
        SOMA_INVALID_ARGUMENT, function,
        fmt::format("the struct_size of {0} is {1}, too small; set it to sizeof({0}) before the call", what, size));
}

// Memory that a plugin lends. Its deleter is the plugin's code, so the plugin stays loaded until that has run.
struct LentMemory {
    soma_dl_managed managed{};
    soma_dl_managed* own = nullptr;
    std::shared_ptr<const Plugin> keep;
};

void SOMA_CALL end_of_lent_memory(soma_dl_managed* managed) {
    const std::unique_ptr<LentMemory> lent(static_cast<LentMemory*>(managed->manager_ctx));
    if (lent->own->deleter != nullptr) lent->own->deleter(lent->own);
}

// A status as an exception, so that it can pass through code that returns something else.
struct Failure {
    soma_status* status;
};

// Places are normalised: a kind without an index has index 0.
bool same(soma_place a, soma_place b) noexcept { return a.kind == b.kind && a.index == b.index; }

std::optional<Value> moved(const Value& part, const Device& device) {
    if (part.kind() == Kind::tensor) {
        soma_value* there = nullptr;
        if (soma_status* failure = require_engine().to(part.handle(), device.place(), &there)) throw Failure{failure};
        return Value::adopt(there);
    }
    if (part.kind() != Kind::opaque) return std::nullopt;
    const soma_place place = opaque_place(part.handle());
    if (place.kind == SOMA_DEVICE_NONE || same(place, device.place())) return std::nullopt;
    throw Failure{
        fail(SOMA_WRONG_DEVICE, "value_to",
             fmt::format("an opaque value of type `{}` is on `{}`, and only its own plugin can move it to `{}`",
                         part.opaque_type(), place_text(part), device.str()))};
}

} // namespace

soma_status* tensor_info(soma_host* host, const soma_value* value, soma_tensor_info* out) {
    if (soma_status* wrong = check(host, out, "tensor_info", "out")) return wrong;
    if (soma_status* wrong = check_tensor(value, "tensor_info", "value")) return wrong;
    return guarded("tensor_info", [&]() -> soma_status* {
        const std::uint32_t size = out->struct_size;
        if (size < offsetof(soma_tensor_info, device)) return too_small("tensor_info", "soma_tensor_info", size);
        return require_engine_now().info(value->payload, out);
    });
}

soma_status* op_find(soma_host* host, soma_string name, soma_string overload, const soma_operator** out) {
    if (soma_status* wrong = check(host, out, "op_find", "out")) return wrong;
    if (!is_readable(name)) return wrong_string("op_find", "name");
    if (!is_readable(overload)) return wrong_string("op_find", "overload");
    return guarded("op_find", [&] { return require_engine().op_find(name, overload, out); });
}

soma_status* op_call(soma_host* host, const soma_operator* op, soma_call* call) {
    if (soma_status* wrong = check(host, call, "op_call", "call")) return wrong;
    if (op == nullptr) return null_pointer("op_call", "op");
    return guarded("op_call", [&]() -> soma_status* {
        if (!SOMA_HAS(call, soma_call, result_count)) return too_small("op_call", "soma_call", call->struct_size);
        if (call->args == nullptr && call->arg_count > 0) return null_pointer("op_call", "args");
        if (call->named_count > 0) {
            if (call->names == nullptr) return null_pointer("op_call", "names");
            if (call->named == nullptr) return null_pointer("op_call", "named");
        }
        if (call->results == nullptr && call->result_capacity > 0) return null_pointer("op_call", "results");
        for (std::uint32_t i = 0; i < call->arg_count; ++i) {
            if (!is_handle(call->args[i])) return wrong_handle(call->args[i], "op_call", fmt::format("argument {}", i));
        }
        for (std::uint32_t i = 0; i < call->named_count; ++i) {
            if (!is_readable(call->names[i])) return wrong_string("op_call", fmt::format("name {}", i));
            if (!is_handle(call->named[i])) {
                return wrong_handle(call->named[i], "op_call", fmt::format("argument `{}`", view(call->names[i])));
            }
        }
        const PluginCall here;
        return require_engine_now().op_call(op, call);
    });
}

soma_status* value_to(soma_host* host, soma_value* value, soma_string device, soma_value** out) {
    if (soma_status* wrong = check(host, out, "value_to", "out")) return wrong;
    if (!is_handle(value)) return wrong_handle(value, "value_to", "value");
    if (!is_readable(device)) return wrong_string("value_to", "device");
    return guarded("value_to", [&]() -> soma_status* {
        const Device there = Device::parse(view(device));
        const PluginCall here;
        try {
            Value result = rebuild(Value::share(value), [&](const Value& part) { return moved(part, there); });
            *out = result.release();
            return nullptr;
        } catch (const Failure& failure) {
            return failure.status;
        }
    });
}

soma_status* state_to(soma_host* host, soma_value* tensor, soma_string device) {
    if (!is_live(host)) return wrong_host(host, "state_to");
    if (soma_status* wrong = check_tensor(tensor, "state_to", "tensor")) return wrong;
    if (!is_readable(device)) return wrong_string("state_to", "device");
    return guarded("state_to", [&] {
        const Device there = Device::parse(view(device));
        const PluginCall here;
        return require_engine().state_to(tensor, there.place());
    });
}

soma_status* tensor_to_dlpack(soma_host* host, soma_value* tensor, std::uint32_t writable, soma_dl_managed** out) {
    if (soma_status* wrong = check(host, out, "tensor_to_dlpack", "out")) return wrong;
    if (soma_status* wrong = check_tensor(tensor, "tensor_to_dlpack", "tensor")) return wrong;
    return guarded("tensor_to_dlpack", [&] { return require_engine().to_dlpack(tensor, writable, out); });
}

soma_status* tensor_from_dlpack(soma_host* host, soma_dl_managed* managed, soma_value** out) {
    if (soma_status* wrong = check(host, out, "tensor_from_dlpack", "out")) return wrong;
    if (managed == nullptr) return null_pointer("tensor_from_dlpack", "managed");
    return guarded("tensor_from_dlpack", [&]() -> soma_status* {
        auto lent = std::make_unique<LentMemory>();
        lent->managed = *managed;
        lent->managed.manager_ctx = lent.get();
        lent->managed.deleter = &end_of_lent_memory;
        lent->own = managed;
        lent->keep = host->plugin.lock();
        soma_status* failed = require_engine().from_dlpack(&lent->managed, out);
        // Taken: freed by its deleter. Refused: the plugin keeps its memory, and its deleter is not called.
        if (failed == nullptr) static_cast<void>(lent.release());
        return failed;
    });
}

std::uint32_t cancelled(soma_host* host, const soma_ctx* ctx) {
    if (!check_or_complain(host, "cancelled")) return 0;
    if (ctx == nullptr) {
        complain(host, "cancelled", "ctx is NULL");
        return 0;
    }
    const auto* run = reinterpret_cast<const RunContext*>(ctx);
    if (run->magic != run_context_magic) {
        complain(host, "cancelled", "ctx is a copy, or is used after its `forward`; pass the pointer that was given");
        return 0;
    }
    std::int64_t now = 0;
    for (; run != nullptr; run = run->outer) {
        if (run->stop != nullptr && run->stop->load(std::memory_order_relaxed) != 0) return 1;
        if (run->deadline_ns == 0) continue;
        if (now == 0) now = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
        if (now >= run->deadline_ns) return 1;
    }
    return 0;
}

soma_status* make_generator(soma_host* host, const soma_ctx* ctx, soma_value** out) {
    if (soma_status* wrong = check(host, out, "make_generator", "out")) return wrong;
    if (ctx == nullptr) return null_pointer("make_generator", "ctx");
    return guarded("make_generator", [&]() -> soma_status* {
        if (!SOMA_HAS(ctx, soma_ctx, seed)) return too_small("make_generator", "soma_ctx", ctx->struct_size);
        const soma_place place = ctx->place.kind == SOMA_DEVICE_NONE ? soma_place{SOMA_DEVICE_CPU, 0} : ctx->place;
        return require_engine().generator(place, ctx->seed, out);
    });
}

const void* get_extension(soma_host* host, const char* id) {
    if (!check_or_complain(host, "get_extension")) return nullptr;
    if (id == nullptr) {
        complain(host, "get_extension", "id is NULL");
        return nullptr;
    }
    try {
        // Only what speaks of libtorch is worth loading it for.
        const bool of_engine = std::string_view(id).substr(0, 11) == "soma.torch/";
        const Engine* found = of_engine ? &require_engine() : engine();
        return found == nullptr ? nullptr : found->extension(id);
    } catch (...) {
        return nullptr;
    }
}

} // namespace soma::detail::api

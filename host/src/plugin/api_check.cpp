// SPDX-License-Identifier: Apache-2.0
#include "plugin/api_check.h"

#include "soma/log.h"

namespace soma::detail::api {

namespace {

std::string_view describe(const soma_host* host) noexcept {
    if (host == nullptr) return "the host is NULL; pass the soma_host* that `register_nodes` and `create` were given";
    return "the host is not one that this program gave out, or its plugin is gone; pass the soma_host* that "
           "`register_nodes` and `create` were given";
}

} // namespace

[[gnu::tls_model("initial-exec")]] thread_local constinit int plugin_calls = 0;

soma_status* fail(std::uint32_t code, std::string_view function, std::string_view what) noexcept {
    try {
        return make_status(code, fmt::format("{}: {}", function, what));
    } catch (...) {
        return out_of_memory_status();
    }
}

soma_status* wrong_host(const soma_host* host, std::string_view function) noexcept {
    return fail(SOMA_INVALID_ARGUMENT, function, describe(host));
}

soma_status* wrong_handle(const soma_value* value, std::string_view function, std::string_view argument) noexcept {
    try {
        return fail(SOMA_INVALID_ARGUMENT, function,
                    value == nullptr ? fmt::format("{} is NULL, but a value is needed", argument)
                                     : fmt::format("{} was released already", argument));
    } catch (...) {
        return out_of_memory_status();
    }
}

soma_status* null_pointer(std::string_view function, std::string_view argument) noexcept {
    try {
        return fail(SOMA_INVALID_ARGUMENT, function, fmt::format("{} is NULL", argument));
    } catch (...) {
        return out_of_memory_status();
    }
}

soma_status* wrong_kind(std::string_view function, std::uint32_t expected, std::uint32_t got) noexcept {
    try {
        return fail(SOMA_TYPE_MISMATCH, function, kind_mismatch(expected, got));
    } catch (...) {
        return out_of_memory_status();
    }
}

soma_status* wrong_string(std::string_view function, std::string_view argument) noexcept {
    try {
        return fail(SOMA_INVALID_ARGUMENT, function,
                    fmt::format("{} is not a string: its data is NULL and its size is not 0, or its size is beyond all "
                                "memory",
                                argument));
    } catch (...) {
        return out_of_memory_status();
    }
}

soma_status* from_exception(std::string_view function) noexcept {
    soma_status* plain = status_from_exception("host");
    const std::uint32_t code = status_code(plain);
    if (code == SOMA_OUT_OF_MEMORY) return plain;
    soma_status* told = fail(code, function, status_message(plain));
    release_status(plain);
    return told;
}

void complain(const soma_host* host, std::string_view function, std::string_view what) noexcept {
    try {
        log(LogLevel::error, is_live(host) ? std::string_view(host->name) : "a plugin", {},
            fmt::format("it called `{}` wrongly: {}", function, what));
    } catch (...) {
        log(LogLevel::error, "a plugin", {}, what);
    }
}

bool check_or_complain(const soma_host* host, std::string_view function) noexcept {
    if (is_live(host)) return true;
    complain(host, function, describe(host));
    return false;
}

} // namespace soma::detail::api

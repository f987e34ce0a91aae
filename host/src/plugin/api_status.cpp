// SPDX-License-Identifier: Apache-2.0
// Statuses and the log, for plugins.
#include "core/quote.h"
#include "core/utf8.h"
#include "plugin/api.h"
#include "plugin/api_check.h"
#include "soma/log.h"

namespace soma::detail::api {

namespace {

constexpr std::uint32_t last_code = SOMA_UNAVAILABLE;
constexpr std::string_view released = "the status was released already";

// Text of a plugin, fit to be shown: as it is, unless it cannot be.
std::string showable(soma_string text, std::string_view what) {
    if (!is_readable(text)) return fmt::format("({} cannot be read)", what);
    if (is_utf8(view(text))) return std::string(view(text));
    return fmt::format("({} is {}) {}", what, describe_utf8_error(view(text)), quoted(view(text)));
}

// Whether a status can be read; complains if it was released.
bool check(const soma_host* host, const soma_status* status, std::string_view function) noexcept {
    if (!check_or_complain(host, function)) return false;
    if (!is_released(status)) return true;
    complain(host, function, released);
    return false;
}

} // namespace

soma_status* status_create(soma_host* host, std::uint32_t code, soma_string message, soma_status* cause) {
    if (is_released(cause)) {
        complain(host, "status_create", "the cause was released already");
        cause = nullptr;
    }
    if (!is_live(host)) {
        release_status(cause);
        return wrong_host(host, "status_create");
    }
    try {
        if (code == SOMA_OK) complain(host, "status_create", "SOMA_OK is no failure; success is a NULL status");
        return make_status(code > last_code ? SOMA_UNKNOWN : code, showable(message, "the message"), host->name, cause);
    } catch (...) {
        release_status(cause);
        return out_of_memory_status();
    }
}

std::uint32_t status_code(soma_host* host, const soma_status* status) {
    check(host, status, "status_code");
    return detail::status_code(status);
}

soma_string status_message(soma_host* host, const soma_status* status) {
    check(host, status, "status_message");
    return text_of(detail::status_message(status));
}

soma_string status_origin(soma_host* host, const soma_status* status) {
    check(host, status, "status_origin");
    return text_of(detail::status_origin(status));
}

const soma_status* status_cause(soma_host* host, const soma_status* status) {
    check(host, status, "status_cause");
    return detail::status_cause(status);
}

void status_release(soma_host* host, soma_status* status) {
    if (check(host, status, "status_release")) release_status(status);
}

void log(soma_host* host, std::uint32_t level, soma_string node_id, soma_string text) {
    if (!check_or_complain(host, "log")) return;
    const auto grade = level > SOMA_LOG_ERROR ? LogLevel::error : static_cast<LogLevel>(level);
    if (grade < log_level()) return;
    try {
        soma::log(grade, host->name, showable(node_id, "the node's id"), showable(text, "the text"));
    } catch (...) {
        soma::log(grade, host->name, {}, "out of memory");
    }
}

} // namespace soma::detail::api

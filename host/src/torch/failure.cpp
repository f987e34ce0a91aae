// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <c10/util/Exception.h>

#include "soma/detail/status.h"

namespace soma::detail {

namespace {

bool has(std::string_view text, std::string_view part) noexcept { return text.find(part) != std::string_view::npos; }

// libtorch has one exception type for nearly everything; what went wrong shows in the text alone.
std::uint32_t code_from_text(std::string_view text) noexcept {
    if (has(text, "on the same device") || has(text, "different from other tensors on") ||
        has(text, "Expected object of device type")) {
        return SOMA_WRONG_DEVICE;
    }
    if (has(text, "can't allocate memory") || has(text, "not enough memory") || has(text, "out of memory")) {
        return SOMA_OUT_OF_MEMORY;
    }
    if (has(text, "INTERNAL ASSERT FAILED")) return SOMA_INTERNAL;
    if (has(text, "not linked with support for") || has(text, "not compiled with CUDA") || has(text, "CUDA error")) {
        return SOMA_UNAVAILABLE;
    }
    return SOMA_INVALID_ARGUMENT;
}

std::uint32_t code_of(const c10::Error& error, std::string_view text) noexcept {
    const std::uint32_t code = code_from_text(text);
    if (code != SOMA_INVALID_ARGUMENT) return code;
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return SOMA_OUT_OF_MEMORY;
    if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) return SOMA_UNIMPLEMENTED;
    if (dynamic_cast<const c10::IndexError*>(&error) != nullptr) return SOMA_OUT_OF_RANGE;
    if (dynamic_cast<const c10::TypeError*>(&error) != nullptr) return SOMA_TYPE_MISMATCH;
    return code;
}

std::string_view tidy(std::string_view text) noexcept {
    // "Could not run …" goes on with a page that lists every kernel of the operator.
    if (has(text, "Could not run")) text = text.substr(0, text.find("\n\n"));
    if (has(text, "INTERNAL ASSERT FAILED")) return text;
    text = text.substr(0, text.find("\nException raised from"));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

std::string under(std::string_view subject, std::string_view text) {
    std::string message;
    if (!subject.empty()) message.append("`").append(subject).append("`: ");
    return message.append(text);
}

} // namespace

soma_status* caught(std::string_view subject) noexcept {
    try {
        try {
            throw;
        } catch (const Failure& failure) {
            return make_status(failure.code(), failure.what());
        } catch (const c10::Error& error) {
            const std::string_view text = tidy(error.what_without_backtrace());
            return make_status(code_of(error, text), under(subject, text), "libtorch");
        }
    } catch (...) {
        return status_from_exception("libtorch");
    }
}

} // namespace soma::detail

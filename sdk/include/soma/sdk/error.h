// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file error.h
/// Statuses of the C interface as exceptions, and back. No exception leaves the plugin: every callback is guarded.

#include <soma/sdk/host.h>

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace soma::sdk {

/// Why something failed; the numbers are the interface's and frozen.
enum class Code : std::uint32_t {
    unknown = SOMA_UNKNOWN,                         ///< anything else
    invalid_argument = SOMA_INVALID_ARGUMENT,       ///< the caller passed something wrong
    not_found = SOMA_NOT_FOUND,                     ///< no such operator, key, type, extension
    type_mismatch = SOMA_TYPE_MISMATCH,             ///< a value is of another kind than asked for
    out_of_range = SOMA_OUT_OF_RANGE,               ///< an index or number outside its bounds
    out_of_memory = SOMA_OUT_OF_MEMORY,             ///< host or device memory is exhausted
    unimplemented = SOMA_UNIMPLEMENTED,             ///< this host was built without the capability
    failed_precondition = SOMA_FAILED_PRECONDITION, ///< something else must happen first
    cancelled = SOMA_CANCELLED,                     ///< the run was cancelled
    deadline_exceeded = SOMA_DEADLINE_EXCEEDED,     ///< the run's time was up
    wrong_device = SOMA_WRONG_DEVICE,               ///< a tensor is on another device than needed
    internal = SOMA_INTERNAL,                       ///< a fault in the callee itself
    already_exists = SOMA_ALREADY_EXISTS,           ///< the name is taken
    unavailable = SOMA_UNAVAILABLE,                 ///< a resource (file, device) cannot be reached
};

/// A failure. Throw it from a node; what the host's functions return comes as one, with code, origin and cause kept.
class Error : public std::exception {
public:
    /// A failure of this plugin's own.
    Error(Code code, std::string message) : state_{std::make_shared<State>()} {
        state_->code = code;
        state_->message = std::move(message);
    }
    /// A failure that another one caused.
    Error(Code code, std::string message, const Error& cause) : Error{code, std::move(message)} {
        state_->cause = cause.release();
    }
    /// Takes over a status that a host's function returned.
    static Error adopt(soma_status* status) {
        Error error{static_cast<Code>(api().status_code(host(), status)),
                    std::string{detail::view(api().status_message(host(), status))}};
        error.state_->origin = detail::view(api().status_origin(host(), status));
        error.state_->own = status;
        return error;
    }

    /// Why, as a number.
    Code code() const noexcept { return state_->code; }
    /// Why, for a person; lives as long as the error.
    const char* what() const noexcept override { return state_->message.c_str(); }
    /// Who said so, e.g. "host"; empty when it is this plugin.
    std::string_view origin() const noexcept { return state_->origin; }

    /// The status to hand to the host, which then owns it; cause and origin pass along once.
    soma_status* release() const noexcept {
        if (state_->own != nullptr) return std::exchange(state_->own, nullptr);
        if (detail::binding.api == nullptr) return nullptr;
        return detail::binding.api->status_create(host(), static_cast<std::uint32_t>(state_->code),
                                                  detail::c_string(state_->message),
                                                  std::exchange(state_->cause, nullptr));
    }

private:
    struct State {
        Code code = Code::unknown;
        std::string message;
        std::string origin;
        soma_status* own = nullptr;
        soma_status* cause = nullptr;

        State() = default;
        State(const State&) = delete;
        State& operator=(const State&) = delete;
        ~State() {
            if (detail::binding.api == nullptr) return;
            detail::binding.api->status_release(host(), own);
            detail::binding.api->status_release(host(), cause);
        }
    };
    std::shared_ptr<State> state_;
};

/// Throws what the status says; nothing when it is success.
inline void check(soma_status* status) {
    if (status != nullptr) throw Error::adopt(status);
}

namespace detail {

inline std::string name_of_current_exception() {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (type == nullptr) return "unknown";
    int result = 0;
    const std::unique_ptr<char, void (*)(void*)> plain{abi::__cxa_demangle(type->name(), nullptr, nullptr, &result),
                                                       std::free};
    return plain ? plain.get() : type->name();
}

/// The exception being handled as a status. Only inside a catch block.
inline soma_status* status_of_current_exception() noexcept {
    try {
        try {
            throw;
        } catch (const Error& error) {
            return error.release();
        } catch (const std::bad_alloc&) {
            return Error{Code::out_of_memory, "out of memory"}.release();
        } catch (const std::exception& error) {
            return Error{Code::internal, error.what()}.release();
        } catch (...) {
            return Error{Code::internal, "an exception of type `" + name_of_current_exception() + "` was thrown"}
                .release();
        }
    } catch (...) {
        constexpr std::string_view text = "out of memory while an error was being reported";
        return binding.api->status_create(binding.host, SOMA_OUT_OF_MEMORY, c_string(text), nullptr);
    }
}

/// Runs `body` and turns what it throws into a status.
template <class Body>
soma_status* guarded(Body&& body) noexcept {
    try {
        body();
        return nullptr;
    } catch (...) {
        return status_of_current_exception();
    }
}

} // namespace detail
} // namespace soma::sdk

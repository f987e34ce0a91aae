// SPDX-License-Identifier: Apache-2.0
#include "soma/detail/status.h"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/handle_watch.h"
#include "core/status_data.h"
#include "soma/error.h"

/// Message and origin follow the struct in the same block, each with a NUL.
struct soma_status {
    std::uint64_t magic;
    std::uint32_t code;
    std::uint32_t reserved;
    std::uint64_t message_size;
    std::uint64_t origin_size;
    const char* message;
    const char* origin;
    soma_status* cause;
};

namespace soma::detail {

namespace {

constexpr std::uint64_t live = 0x736f6d612d737461;
constexpr std::uint64_t dead = 0x736f6d612d676f6e;

constexpr std::string_view out_of_memory_text = "out of memory";
constexpr std::string_view host_name = "host";
constinit soma_status out_of_memory{live,
                                    SOMA_OUT_OF_MEMORY,
                                    0,
                                    out_of_memory_text.size(),
                                    host_name.size(),
                                    out_of_memory_text.data(),
                                    host_name.data(),
                                    nullptr};

/// The last few that were released, kept so that a second release of one is seen for what it is.
class Quarantine {
public:
    /// Keeps `status`; gives back the one that has been here longest, or null.
    soma_status* exchange(soma_status* status) noexcept {
        const std::lock_guard lock(mutex_);
        next_ = (next_ + 1) % kept_.size();
        return std::exchange(kept_[next_], status);
    }

private:
    std::mutex mutex_;
    std::array<soma_status*, 32> kept_{};
    std::size_t next_ = 0;
};

constinit Quarantine quarantine;

bool is_live(const soma_status* status) noexcept { return status->magic == live; }

} // namespace

bool is_released(const soma_status* status) noexcept { return status != nullptr && status->magic == dead; }

soma_status* out_of_memory_status() noexcept { return &out_of_memory; }

soma_status* make_status(std::uint32_t code, std::string_view message, std::string_view origin,
                         soma_status* cause) noexcept {
    if (cause != nullptr && !is_live(cause)) cause = nullptr;
    const std::size_t size = sizeof(soma_status) + message.size() + origin.size() + 2;
    void* block = ::operator new(size, std::nothrow);
    if (block == nullptr) {
        release_status(cause);
        return &out_of_memory;
    }
    char* text = static_cast<char*>(block) + sizeof(soma_status);
    char* const message_at = text;
    char* const origin_at = text + message.size() + 1;
    if (!message.empty()) std::memcpy(message_at, message.data(), message.size());
    message_at[message.size()] = '\0';
    if (!origin.empty()) std::memcpy(origin_at, origin.data(), origin.size());
    origin_at[origin.size()] = '\0';
    soma_status* status = std::construct_at(static_cast<soma_status*>(block),
                                            soma_status{live, code == SOMA_OK ? SOMA_UNKNOWN : code, 0, message.size(),
                                                        origin.size(), message_at, origin_at, cause});
    if (is_watched()) [[unlikely]]
        watch_made(status);
    return status;
}

void release_status(soma_status* status) noexcept {
    while (status != nullptr && status != &out_of_memory && is_live(status)) {
        soma_status* cause = std::exchange(status->cause, nullptr);
        status->magic = dead;
        if (is_watched()) [[unlikely]]
            watch_freed(status);
        ::operator delete(quarantine.exchange(status));
        status = cause;
    }
}

std::uint32_t status_code(const soma_status* status) noexcept {
    if (status == nullptr) return SOMA_OK;
    return is_live(status) ? status->code : SOMA_UNKNOWN;
}

std::string_view status_message(const soma_status* status) noexcept {
    if (status == nullptr) return "";
    if (!is_live(status)) return "(a status that was released already)";
    return {status->message, status->message_size};
}

std::string_view status_origin(const soma_status* status) noexcept {
    if (status == nullptr || !is_live(status)) return "";
    return {status->origin, status->origin_size};
}

const soma_status* status_cause(const soma_status* status) noexcept {
    return status == nullptr || !is_live(status) ? nullptr : status->cause;
}

std::string full_message(const soma_status* status) {
    std::string text;
    for (; status != nullptr; status = status_cause(status)) {
        const std::string_view message = status_message(status);
        if (message.empty() || text.find(message) != std::string::npos) continue;
        if (!text.empty()) text += ": ";
        text += message;
    }
    return text;
}

soma_status* status_from_exception(std::string_view origin) noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return &out_of_memory;
    } catch (const CancelledError& error) {
        return make_status(SOMA_CANCELLED, error.what(), origin);
    } catch (const EngineError& error) {
        return make_status(SOMA_UNAVAILABLE, error.what(), origin);
    } catch (const DeviceError& error) {
        return make_status(SOMA_INVALID_ARGUMENT, error.what(), origin);
    } catch (const ValueError& error) {
        return make_status(SOMA_INVALID_ARGUMENT, error.what(), origin);
    } catch (const Error& error) {
        return make_status(SOMA_FAILED_PRECONDITION, error.what(), origin);
    } catch (const std::exception& error) {
        return make_status(SOMA_INTERNAL, error.what(), origin);
    } catch (...) {
        return make_status(SOMA_INTERNAL, "something that is no std::exception was thrown", origin);
    }
}

} // namespace soma::detail

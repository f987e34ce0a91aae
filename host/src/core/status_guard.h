// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "soma/detail/status.h"
#include "soma/error.h"

namespace soma::detail {

/// Owns a status.
class StatusGuard {
public:
    explicit StatusGuard(soma_status* status) noexcept : status_(status) {}
    StatusGuard(StatusGuard&& other) noexcept : status_(std::exchange(other.status_, nullptr)) {}
    StatusGuard(const StatusGuard&) = delete;
    StatusGuard& operator=(const StatusGuard&) = delete;
    ~StatusGuard() { release_status(status_); }

    /// Whether there is a failure.
    explicit operator bool() const noexcept { return status_ != nullptr; }
    [[nodiscard]] soma_status* get() const noexcept { return status_; }
    [[nodiscard]] soma_status* release() noexcept { return std::exchange(status_, nullptr); }

private:
    soma_status* status_;
};

/// Throws `ValueError` with the whole message if there is a failure; takes it over.
inline void throw_value_error(soma_status* status) {
    if (status == nullptr) return;
    const StatusGuard guard(status);
    throw ValueError(full_message(status));
}

} // namespace soma::detail

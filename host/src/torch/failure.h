// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "soma/abi.h"

namespace soma::detail {

/// What this library throws inside itself; it leaves as a status with this code and message.
class Failure : public std::runtime_error {
public:
    Failure(std::uint32_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
    [[nodiscard]] std::uint32_t code() const noexcept { return code_; }

private:
    std::uint32_t code_;
};

/// Inside a catch block: the current exception as a status. What libtorch says is told without its backtrace, after
/// `subject` (an operator's name; may be empty).
soma_status* caught(std::string_view subject) noexcept;

/// Runs `body` for a function of the engine's table, which no exception may leave.
template <typename Body>
soma_status* guarded(Body&& body) noexcept {
    try {
        body();
        return nullptr;
    } catch (...) {
        return caught({});
    }
}

} // namespace soma::detail

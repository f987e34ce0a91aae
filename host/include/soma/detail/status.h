// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "soma/abi.h"
#include "soma/export.h"

namespace soma::detail {

/// Makes a status; never fails (out of memory gives the static one). Takes over `cause`.
SOMA_API soma_status* make_status(std::uint32_t code, std::string_view message, std::string_view origin = "host",
                                  soma_status* cause = nullptr) noexcept;
/// Frees it; null is allowed.
SOMA_API void release_status(soma_status* status) noexcept;
SOMA_API std::uint32_t status_code(const soma_status* status) noexcept;
SOMA_API std::string_view status_message(const soma_status* status) noexcept;
SOMA_API std::string_view status_origin(const soma_status* status) noexcept;
SOMA_API const soma_status* status_cause(const soma_status* status) noexcept;
/// The message, then each cause's after ": "; causes already told by the message are left out.
SOMA_API std::string full_message(const soma_status* status);
/// Inside a catch block: the current exception as a status.
SOMA_API soma_status* status_from_exception(std::string_view origin) noexcept;

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "soma/templates.h"

#include "core/libraries.h"

namespace soma {

std::filesystem::path template_directory() {
    return (detail::library_directory() / SOMA_TEMPLATES_FROM_LIB).lexically_normal();
}

} // namespace soma

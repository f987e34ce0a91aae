// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/value_data.h"

namespace soma::detail {

/// An opaque value; a new reference. `type` is copied as far as its struct_size goes. `host` is handed to the type's
/// `place` and lives as long as `keep`; null stands for the program's own. Takes `payload` over on success; throws
/// `ValueError` for a type that is not sound.
soma_value* make_opaque_value(const soma_opaque_type& type, void* payload, soma_host* host,
                              std::shared_ptr<const void> keep);

/// Destroys the payload, then lets go of what kept its plugin loaded.
void destroy_opaque(OpaqueData* data) noexcept;

} // namespace soma::detail

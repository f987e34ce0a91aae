// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace soma::simcuda {

/// Why simulated devices cannot be started in this process, or null when they can. Looks only; the answer is a literal.
const char* obstacle();

/// Tells libtorch that there are CUDA devices, as many as `device_count` says: its device guard, the hooks it asks about
/// CUDA, the allocator. False when libtorch had asked for the hooks before, and so goes on without ours.
bool announce_devices();

} // namespace soma::simcuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace soma::detail {

/// The directory `libsomatize.so` was loaded from: what ships beside it is found relative to this, so that an installed
/// tree can be moved.
std::filesystem::path library_directory();

/// Loads one of the host's own libraries, from beside the core if it is there, else as the system finds it. It stays
/// loaded. Returns null and fills `why` with the places tried and the loader's reason.
void* load_own_library(const char* file, std::string& why);

/// A function or object of a loaded library, or null.
void* find_symbol(void* library, const char* name) noexcept;

} // namespace soma::detail

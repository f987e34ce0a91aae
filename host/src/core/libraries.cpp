// SPDX-License-Identifier: Apache-2.0
#include "libraries.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace soma::detail {

std::filesystem::path library_directory() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&library_directory), &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, ignored);
    return (ignored ? std::filesystem::path(info.dli_fname) : real).parent_path();
}

void* load_own_library(const char* file, std::string& why) {
    const std::filesystem::path beside = library_directory() / file;
    for (const std::string& path : {beside.string(), std::string(file)}) {
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", path, dlerror());
        std::error_code ignored;
        // A file that is there but does not load is the one to tell about; another copy would only hide that.
        if (path == beside && std::filesystem::exists(beside, ignored)) return nullptr;
    }
    return nullptr;
}

void* find_symbol(void* library, const char* name) noexcept { return dlsym(library, name); }

} // namespace soma::detail

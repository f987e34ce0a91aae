// SPDX-License-Identifier: Apache-2.0
#include "plugin/mentions.h"

#include <algorithm>
#include <functional>
#include <string>

#include "core/names.h"
#include "plugin/file.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

// Names of types lie in a small part of a file; one that is larger carries something else.
constexpr std::uint64_t most_read = std::uint64_t{64} << 20;

bool is_part_of_name(char c) noexcept { return is_word(c) || c == '.'; }

} // namespace

bool mentions(const std::filesystem::path& path, std::string_view type) {
    if (type.empty()) return false;
    PluginFile file;
    try {
        file = PluginFile::open(path);
    } catch (const PluginError&) {
        return false; // nothing that can be read without harm
    }
    std::string bytes(std::min(file.size(), most_read), '\0');
    if (!file.read(0, bytes)) return false;
    const std::boyer_moore_horspool_searcher searcher(type.begin(), type.end());
    for (auto at = bytes.cbegin();;) {
        at = std::search(at, bytes.cend(), searcher);
        if (at == bytes.cend()) return false;
        const auto end = at + static_cast<std::ptrdiff_t>(type.size());
        const bool begins = at == bytes.cbegin() || !is_part_of_name(*(at - 1));
        const bool ends = end == bytes.cend() || !is_part_of_name(*end);
        if (begins && ends) return true;
        ++at;
    }
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "plugin/structs.h"

#include <fmt/format.h>

#include "core/utf8.h"
#include "plugin/api_check.h"
#include "soma/error.h"

namespace soma::detail {

void check_size(std::uint64_t size, std::size_t least, std::string_view name, std::string_view where) {
    if (size >= least && size <= most_bytes_of_struct) return;
    throw PluginError(fmt::format("{}: the struct_size of {} is {}, expected {} to {}; set it to sizeof({})", where,
                                  name, size, least, most_bytes_of_struct, name));
}

void check_array(const void* first, std::uint32_t count, std::uint32_t stride, std::size_t least, std::string_view name,
                 std::string_view where) {
    if (count == 0) return;
    if (count > most_in_array) {
        throw PluginError(
            fmt::format("{}: it has {} entries of {}, expected at most {}", where, count, name, most_in_array));
    }
    if (first == nullptr) {
        throw PluginError(fmt::format("{}: it has {} entries of {}, but their pointer is NULL", where, count, name));
    }
    if (stride < least || stride > most_bytes_of_struct || stride % 8 != 0) {
        throw PluginError(fmt::format("{}: the stride of {} is {}, expected a multiple of 8 from {} to {}; set it to "
                                      "sizeof({})",
                                      where, name, stride, least, most_bytes_of_struct, name));
    }
    if (reinterpret_cast<std::uintptr_t>(first) % 8 != 0) {
        throw PluginError(fmt::format("{}: the entries of {} do not lie at a multiple of 8", where, name));
    }
}

std::string checked_text(soma_string text, std::string_view what, std::string_view where) {
    if (!api::is_readable(text)) {
        throw PluginError(
            fmt::format("{}: {} is no string: its data is NULL and its size is {}", where, what, text.size));
    }
    const std::string_view view = api::view(text);
    if (!is_utf8(view)) throw PluginError(fmt::format("{}: {} is {}", where, what, describe_utf8_error(view)));
    return std::string(view);
}

} // namespace soma::detail

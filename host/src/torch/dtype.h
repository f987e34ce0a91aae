// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soma/abi.h"

namespace soma::detail {

/// An element type, by libtorch's number for it (`c10::ScalarType`), which is the same in every version.
struct Dtype {
    const char* name;    ///< as torch prints it, e.g. "float32"
    soma_dl_datatype dl; ///< lanes 0: DLPack, as the interface has it, knows none
};

/// Null for a number that no known libtorch has.
const Dtype* find_dtype(int number) noexcept;
/// "float32", or "unknown dtype"; NUL-terminated and never freed.
const char* dtype_name(int number) noexcept;
/// From a name ("float32", "float", "int64", "long", …); nullopt for a name that is none.
std::optional<int> parse_dtype(std::string_view name) noexcept;
/// The number with this DLPack description; nullopt for none.
std::optional<int> dtype_from_dl(soma_dl_datatype dl) noexcept;
/// " (did you mean `float32`?)", or empty.
std::string dtype_hint(std::string_view name);

/// A memory layout by libtorch's number (`c10::Layout`): "strided", "sparse_coo", …
const char* layout_name(int number) noexcept;
std::optional<int> parse_layout(std::string_view name) noexcept;
std::string layout_hint(std::string_view name);

/// A memory format by libtorch's number (`c10::MemoryFormat`): "contiguous_format", "channels_last", …
std::optional<int> parse_memory_format(std::string_view name) noexcept;
std::string memory_format_hint(std::string_view name);

} // namespace soma::detail

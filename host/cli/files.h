// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace soma::cli {

/// What a file holds. Throws `std::system_error` whose text names the file.
std::string read_file(const std::filesystem::path& file);
/// What standard input holds, to its end.
std::string read_standard_input();

/// " (did you mean `licence.soma`?)": the file of the same folder with one of these endings whose name is nearest; or empty.
std::string nearest_file(const std::filesystem::path& file, std::initializer_list<std::string_view> endings);

} // namespace soma::cli

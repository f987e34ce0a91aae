// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace soma::cli {

/// Of what is read whole: more is a mistake, such as a pipe that never ends, and would take all memory.
inline constexpr std::size_t most_of_a_graph = std::size_t{256} << 20U;
inline constexpr std::size_t most_of_an_input = std::size_t{2} << 30U;

/// Throws `std::runtime_error`, naming it, if the open file is a device that never ends or holds no text: a terminal is
/// good, and so is /dev/null.
void refuse_device(int file, const std::string& name);

/// What a file holds, at most so many bytes. Throws `std::runtime_error` whose text names the file.
std::string read_file(const std::filesystem::path& file, std::size_t most = most_of_a_graph);
/// What standard input holds, to its end.
std::string read_standard_input(std::size_t most);

/// " (did you mean `licence.soma`?)": the file of the same folder with one of these endings whose name is nearest; or empty.
std::string nearest_file(const std::filesystem::path& file, std::initializer_list<std::string_view> endings);

} // namespace soma::cli

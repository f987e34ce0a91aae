// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "support/paths.h"

namespace soma::test {

/// The file of a test plugin.
std::filesystem::path plugin_file(std::string_view name);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Why the file is refused when it is loaded by name, without the path; empty when it loads.
std::string refusal(const std::filesystem::path& file);

/// What `work` returns in a child process; a description of its end if it ends otherwise.
std::string in_child(const std::function<std::string()>& work);

} // namespace soma::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace text {

/// What a path leads to.
enum class PathKind { file, directory };

/// Whether a path leads to a regular file or a directory; links are followed. Anything else, and nothing, throws Error
/// with the path and the reason.
PathKind kind_of(const std::string& path);

/// The regular files of a directory, as paths sorted by name. Symbolic links are left out, and so are subdirectories.
std::vector<std::string> files_in(const std::string& directory);

/// A file's text; bytes that are not UTF-8 become U+FFFD. Throws Error with the path and the reason.
std::string read_file(const std::string& path);

/// The last part of a path.
std::string_view base_name(std::string_view path);

} // namespace text

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The layout of the plugin interface as data: read from the headers, kept under abi/layout, and compared.
namespace soma::layout {

struct Field {
    std::string name;
    std::string type;
    std::uint64_t offset = 0;
};

struct Struct {
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t alignment = 0;
    std::vector<Field> fields; ///< in the order of their offsets

    /// The field, or null.
    [[nodiscard]] const Field* find(std::string_view field) const;
    /// Says its own size, so it may grow at its end; every other is passed by value or embedded, and may not.
    [[nodiscard]] bool grows() const { return find("struct_size") != nullptr; }
};

struct Record {
    unsigned major = 0;
    unsigned minor = 0;
    std::map<std::string, Struct> structs;
    std::map<std::string, std::string> constants; ///< name → its text in the header
};

/// The text that is kept. Sorted by name, so that two releases compare line by line.
std::string to_text(const Record& record);
/// The record in a text; throws `std::runtime_error` naming the line.
Record from_text(std::string_view text);
/// The record in a file.
Record from_file(const std::filesystem::path& file);

/// The layout that `clang` gives the headers below `include`. Throws `std::runtime_error` with what clang says.
Record from_headers(const std::string& clang, const std::filesystem::path& include);

/// What makes `now` neither `released` nor an append to it, a line each; none when all is well. Of another major only what
/// is frozen for ever is compared.
std::vector<std::string> breaks(const Record& released, const Record& now);

} // namespace soma::layout

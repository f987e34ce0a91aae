// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include <sys/types.h>

namespace soma::detail {

inline constexpr std::string_view plugin_suffix = ".soma.so";

/// A file that may be a plugin, open for reading. Being open, it stays what it was when it was looked at, also when another
/// takes its place on disk.
class PluginFile {
public:
    /// Throws `PluginError` with the reason for anything but a regular file of sane size whose name ends as a plugin's
    /// does; that is found out without opening it, for opening a FIFO waits and opening a device may do anything.
    static PluginFile open(const std::filesystem::path& given);

    PluginFile() = default;
    PluginFile(PluginFile&& other) noexcept { swap(other); }
    PluginFile& operator=(PluginFile other) noexcept {
        swap(other);
        return *this;
    }
    PluginFile(const PluginFile&) = delete;
    ~PluginFile();

    /// Absolute, no symbolic link in it.
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// Fills `out` from `offset`; false when the file ends before.
    bool read(std::uint64_t offset, std::span<char> out) const noexcept;
    /// Whether both hold the same bytes. Reads them only when the sizes are equal.
    [[nodiscard]] bool same_content(const PluginFile& other) const;

private:
    void swap(PluginFile& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(size_, other.size_);
        std::swap(device_, other.device_);
        std::swap(inode_, other.inode_);
        std::swap(descriptor_, other.descriptor_);
    }

    std::filesystem::path path_;
    std::uint64_t size_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    int descriptor_ = -1;
};

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "plugin/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "soma/error.h"

namespace soma::detail {

namespace {

// The smallest ELF file there can be is its header; the largest plugins carry code for many GPUs.
constexpr std::uint64_t least_size = 64;
constexpr std::uint64_t most_size = std::uint64_t{8} << 30;

std::string reason(int error) { return std::generic_category().message(error); }

std::string_view kind_of(mode_t mode) noexcept {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISCHR(mode)) return "a character device";
    if (S_ISBLK(mode)) return "a block device";
    return "something else";
}

void check_regular(const struct stat& found) {
    if (!S_ISREG(found.st_mode)) {
        throw PluginError(fmt::format("expected a regular file, got {}", kind_of(found.st_mode)));
    }
    const auto size = static_cast<std::uint64_t>(found.st_size);
    if (size == 0) throw PluginError("it is empty, 0 bytes; copy or build it again");
    if (size < least_size) {
        throw PluginError(fmt::format("it has {} bytes, fewer than any shared library; copy or build it again", size));
    }
    if (size > most_size) {
        throw PluginError(fmt::format("it has {} bytes, expected at most {}", size, most_size));
    }
}

} // namespace

PluginFile PluginFile::open(const std::filesystem::path& given) {
    if (!given.native().ends_with(plugin_suffix)) {
        throw PluginError(
            fmt::format("the name of a plugin's file ends in `{}`; rename it if it is one", plugin_suffix));
    }
    std::error_code error;
    PluginFile file;
    file.path_ = std::filesystem::canonical(given, error);
    if (error) {
        struct stat link {};
        const bool is_link = lstat(given.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
        throw PluginError(fmt::format(
            "{}: {}", is_link ? "it is a symbolic link that leads nowhere" : "it cannot be found", error.message()));
    }
    struct stat found {};
    if (lstat(file.path_.c_str(), &found) != 0) {
        throw PluginError(fmt::format("it cannot be looked at: {}", reason(errno)));
    }
    check_regular(found);
    // Should it have become a FIFO since, this does not wait.
    file.descriptor_ = ::open(file.path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file.descriptor_ < 0) {
        throw PluginError(fmt::format("it cannot be read: {}{}", reason(errno),
                                      errno == EACCES ? "; give yourself the right to, with chmod" : ""));
    }
    if (fstat(file.descriptor_, &found) != 0) {
        throw PluginError(fmt::format("it cannot be looked at: {}", reason(errno)));
    }
    check_regular(found);
    file.size_ = static_cast<std::uint64_t>(found.st_size);
    file.device_ = found.st_dev;
    file.inode_ = found.st_ino;
    return file;
}

PluginFile::~PluginFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool PluginFile::read(std::uint64_t offset, std::span<char> out) const noexcept {
    while (!out.empty()) {
        const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        offset += static_cast<std::uint64_t>(got);
        out = out.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

bool PluginFile::same_content(const PluginFile& other) const {
    if (size_ != other.size_) return false;
    if (device_ == other.device_ && inode_ == other.inode_) return true;
    constexpr std::uint64_t block = 1 << 16;
    std::vector<char> mine(block);
    std::vector<char> theirs(block);
    for (std::uint64_t at = 0; at < size_; at += block) {
        const std::size_t count = std::min(block, size_ - at);
        const std::span<char> a = std::span(mine).first(count);
        const std::span<char> b = std::span(theirs).first(count);
        if (!read(at, a) || !other.read(at, b) || std::memcmp(a.data(), b.data(), count) != 0) return false;
    }
    return true;
}

} // namespace soma::detail

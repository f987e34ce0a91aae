// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include "utf8.h"

#include <soma/sdk/error.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace text {
namespace {

using soma::sdk::Code;
using soma::sdk::Error;

[[noreturn]] void fail(std::string_view what, const std::string& path, int number) {
    throw Error{number == ENOENT || number == ENOTDIR ? Code::not_found : Code::unavailable,
                "cannot " + std::string{what} + " `" + path + "`: " + std::generic_category().message(number)};
}

void check_path(const std::string& path) {
    if (path.empty()) throw Error{Code::invalid_argument, "the path is empty"};
    if (path.find('\0') != std::string::npos) {
        throw Error{Code::invalid_argument, "the path `" + std::string{path.c_str()} + "` goes on after a NUL byte"};
    }
}

std::string_view name_of(mode_t mode) {
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
    return "something else";
}

[[noreturn]] void refuse(const std::string& path, mode_t mode) {
    throw Error{Code::invalid_argument, "cannot read `" + path + "`: it is " + std::string{name_of(mode)} +
                                            ", not a regular file or a directory"};
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_{number} {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

/// A name's bytes for a message, with those that are not printable ASCII as \xNN.
std::string escaped(std::string_view bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    for (const char letter : bytes) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && byte < 0x7f) {
            out += letter;
        } else {
            out += "\\x";
            out += hex[byte >> 4U];
            out += hex[byte & 15U];
        }
    }
    return out;
}

} // namespace

PathKind kind_of(const std::string& path) {
    check_path(path);
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) fail("read", path, errno);
    if (S_ISREG(facts.st_mode)) return PathKind::file;
    if (S_ISDIR(facts.st_mode)) return PathKind::directory;
    refuse(path, facts.st_mode);
}

std::vector<std::string> files_in(const std::string& directory) {
    check_path(directory);
    const auto close = [](DIR* open) { ::closedir(open); };
    const std::unique_ptr<DIR, decltype(close)> open{::opendir(directory.c_str()), close};
    if (!open) fail("list", directory, errno);

    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(open.get());
        if (entry == nullptr) {
            if (errno != 0) fail("list", directory, errno);
            break;
        }
        struct stat facts {};
        if (::fstatat(::dirfd(open.get()), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) continue; // gone since it was listed
            fail("read", directory + "/" + entry->d_name, errno);
        }
        if (!S_ISREG(facts.st_mode)) continue;
        std::string name = entry->d_name;
        if (repaired(name) != name) {
            throw Error{Code::invalid_argument,
                        "cannot list `" + directory + "`: the file name `" + escaped(name) + "` in it is not UTF-8"};
        }
        names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    const std::string prefix = directory.back() == '/' ? directory : directory + "/";
    for (std::string& name : names) name.insert(0, prefix);
    return names;
}

std::string read_file(const std::string& path) {
    check_path(path);
    // Not blocking: a FIFO would otherwise wait for a writer before it can be refused.
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number() < 0) fail("read", path, errno);
    struct stat facts {};
    if (::fstat(file.number(), &facts) != 0) fail("read", path, errno);
    if (S_ISDIR(facts.st_mode)) fail("read", path, EISDIR);
    if (!S_ISREG(facts.st_mode)) refuse(path, facts.st_mode);

    std::string content;
    content.reserve(static_cast<std::size_t>(facts.st_size));
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
        if (count < 0) {
            if (errno == EINTR) continue;
            fail("read", path, errno);
        }
        if (count == 0) break;
        content.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return repaired(std::move(content));
}

std::string_view base_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

} // namespace text

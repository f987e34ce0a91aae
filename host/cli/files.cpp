// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "soma/suggest.h"

namespace soma::cli {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& name) {
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot read {}", name));
}

std::string read_all(int file, const std::string& name, std::size_t most) {
    refuse_device(file, name);
    std::string out;
    std::size_t size = 0;
    for (;;) {
        if (out.size() - size < 4096) out.resize(std::min(out.size() * 2, most) + 65536);
        const auto got = read(file, out.data() + size, out.size() - size);
        if (got == 0) break;
        if (got > 0) {
            size += static_cast<std::size_t>(got);
            if (size > most) {
                throw std::runtime_error(fmt::format("{} is too large: more than {} MiB", name, most >> 20U));
            }
        } else if (errno != EINTR) {
            fail(name);
        }
    }
    out.resize(size);
    return out;
}

class File {
public:
    explicit File(const fs::path& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (number_ >= 0) close(number_);
    }
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

} // namespace

void refuse_device(int file, const std::string& name) {
    struct stat about {};
    if (fstat(file, &about) != 0) return;
    const bool device = S_ISBLK(about.st_mode) || S_ISCHR(about.st_mode);
    if (!device || isatty(file) == 1 || about.st_rdev == makedev(1, 3)) return;
    throw std::runtime_error(fmt::format("{} is a device, not a file", name));
}

std::string read_file(const fs::path& file, std::size_t most) {
    const std::string name = fmt::format("`{}`", file.string());
    const File opened(file);
    if (opened.number() < 0) fail(name);
    return read_all(opened.number(), name, most);
}

std::string read_standard_input(std::size_t most) { return read_all(STDIN_FILENO, "standard input", most); }

std::string nearest_file(const fs::path& file, std::initializer_list<std::string_view> endings) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        for (const std::string_view ending : endings) {
            if (name.ends_with(ending)) names.push_back(name);
        }
    }
    return did_you_mean(file.filename().string(), names);
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
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

std::string read_all(int file, const std::string& name) {
    std::string out;
    std::size_t size = 0;
    for (;;) {
        if (out.size() - size < 4096) out.resize(out.size() * 2 + 65536);
        const auto got = read(file, out.data() + size, out.size() - size);
        if (got == 0) break;
        if (got > 0) {
            size += static_cast<std::size_t>(got);
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

std::string read_file(const fs::path& file) {
    const std::string name = fmt::format("`{}`", file.string());
    const File opened(file);
    if (opened.number() < 0) fail(name);
    return read_all(opened.number(), name);
}

std::string read_standard_input() { return read_all(STDIN_FILENO, "standard input"); }

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

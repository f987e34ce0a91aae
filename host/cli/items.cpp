// SPDX-License-Identifier: Apache-2.0
#include "items.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

#include "arguments.h"
#include "files.h"
#include "input.h"
#include "interrupt.h"
#include "soma/error.h"

namespace soma::cli {

namespace {

/// Lines of a file that is read piece by piece.
class Lines {
public:
    /// `name` as in `--in @name`; "-" is standard input.
    explicit Lines(std::string name) : name_(std::move(name)) {
        if (name_ != "-") file_ = open(name_.c_str(), O_RDONLY | O_CLOEXEC);
        if (file_ < 0) fail();
        try {
            refuse_device(file_, name_ == "-" ? "standard input" : fmt::format("`{}`", name_));
        } catch (const std::runtime_error& device) {
            throw UsageError(fmt::format("--in @{}: {}", name_, device.what()));
        }
    }
    /// Lines of `text`.
    Lines(std::string name, std::string text) : name_(std::move(name)), held_(std::move(text)), ended_(true) {}
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines() {
        if (file_ != STDIN_FILENO) close(file_);
    }

    std::optional<std::string> next() {
        for (;;) {
            if (const auto end = held_.find('\n', looked_at_); end != std::string::npos) {
                const bool two = end > begin_ && held_[end - 1] == '\r';
                std::string line = held_.substr(begin_, end - begin_ - (two ? 1 : 0));
                begin_ = looked_at_ = end + 1;
                return line;
            }
            looked_at_ = held_.size();
            if (!ended_ && fill()) continue;
            if (begin_ == held_.size()) return std::nullopt;
            std::string line = held_.substr(begin_);
            begin_ = looked_at_ = held_.size();
            return line;
        }
    }

private:
    [[noreturn]] void fail() const {
        throw UsageError(fmt::format("--in @{}: cannot read `{}`: {}", name_, name_, std::strerror(errno)));
    }

    /// Reads on; false at the end.
    bool fill() {
        held_.erase(0, begin_);
        looked_at_ -= begin_;
        begin_ = 0;
        constexpr std::size_t piece = 65536;
        const std::size_t size = held_.size();
        if (size > most_of_an_input) {
            throw UsageError(
                fmt::format("--in @{}: a line is too long: more than {} MiB", name_, most_of_an_input >> 20U));
        }
        for (;;) {
            // Looks up now and then, for a pipe may never say anything again.
            struct pollfd ready {
                file_, POLLIN, 0
            };
            while (poll(&ready, 1, 100) == 0) {
                if (Interrupt::came()) return end();
            }
            if (Interrupt::came()) return end();
            held_.resize(size + piece);
            const auto got = read(file_, held_.data() + size, piece);
            held_.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
            if (got > 0) return true;
            if (got == 0) return end();
            if (errno != EINTR) fail();
        }
    }

    bool end() {
        ended_ = true;
        return false;
    }

    std::string name_;
    std::string held_;
    std::size_t begin_ = 0;     ///< of the line that is next
    std::size_t looked_at_ = 0; ///< before it there is no end of that line
    int file_ = STDIN_FILENO;
    bool ended_ = false;
};

} // namespace

Items each_item(const std::string& argument) {
    const Value list = read_input(argument);
    if (list.kind() != Kind::list) {
        throw UsageError(fmt::format("--each wants `--in` to be a list, not {}; `--lines` runs the lines of a text",
                                     to_string(list.kind())));
    }
    return [list, next = std::size_t{0}]() mutable -> std::optional<Item> {
        if (next == list.size() || Interrupt::came()) return std::nullopt;
        return Item{list.at(next++), {}};
    };
}

Items line_items(const std::string& argument) {
    const bool file = argument.starts_with('@') && !argument.starts_with("@@");
    const auto lines = file ? std::make_shared<Lines>(argument.substr(1))
                            : std::make_shared<Lines>("", argument.substr(argument.starts_with('@') ? 1 : 0));
    return [lines]() -> std::optional<Item> {
        if (Interrupt::came()) return std::nullopt;
        const std::optional<std::string> line = lines->next();
        if (!line) return std::nullopt;
        try {
            return Item{*line, {}};
        } catch (const ValueError& error) {
            return Item{{}, error.what()};
        }
    };
}

} // namespace soma::cli

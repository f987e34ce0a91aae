// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"

namespace soma::cli {

/// The command line is wrong. The message says what, and the mend.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Why a command that places nothing has no `--simulate`.
inline constexpr std::string_view no_devices =
    "it has nothing to do with devices; the commands that take a graph have it";

/// What a command takes, declared once: from it come parsing, the help page and the errors.
class Arguments {
public:
    /// `example` is a command line that works.
    Arguments(std::string_view command, std::string_view about, std::string_view example);
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    /// Positional; a missing one that is required is an error.
    void positional(std::string_view name, std::string_view doc, std::string& into);
    void optional_positional(std::string_view name, std::string_view doc, std::optional<std::string>& into);
    /// `names` as in "-q,--quiet".
    void flag(std::string_view names, std::string_view doc, bool& into);
    void option(std::string_view names, std::string_view placeholder, std::string_view doc,
                std::optional<std::string>& into);
    /// May be given any number of times.
    void repeated(std::string_view names, std::string_view placeholder, std::string_view doc,
                  std::vector<std::string>& into);

    /// An option of other commands that one might expect here; `why` says in the error why there is none.
    void elsewhere(std::string_view name, std::string_view why);

    /// Fills in what was declared. False: help was asked for and has been printed. Throws `UsageError`.
    [[nodiscard]] bool parse(Args args) const;

    /// The page that `--help` prints.
    [[nodiscard]] std::string help() const;

private:
    struct Entry {
        std::string names;
        std::string placeholder;
        std::string doc;
        bool positional;
        bool required;
        bool repeated;
        std::function<void(const std::string&)> take; ///< empty: a flag
        bool* flag;
    };

    /// The values of each entry, by its number.
    using Given = std::vector<std::vector<std::string>>;

    /// The option of that name; throws `UsageError` with the nearest.
    [[nodiscard]] const Entry& known(std::string_view name) const;
    [[nodiscard]] std::size_t index_of(const Entry& entry) const {
        return static_cast<std::size_t>(&entry - entries_.data());
    }
    void take(const Given& given, std::span<const std::string> positionals) const;
    [[nodiscard]] std::string too_many(const std::string& argument) const;
    /// The value of an option that has none attached: the next word, which it takes.
    static std::string_view value_after(std::string_view name, const Entry& entry, Args& rest);
    /// "--name", "--name=value".
    void parse_long(std::string_view word, Args& rest, Given& given) const;
    /// "-n", "-nvalue", "-abc" for three flags.
    void parse_short(std::string_view word, Args& rest, Given& given) const;

    std::string command_;
    std::string about_;
    std::string example_;
    std::vector<Entry> entries_;
    std::vector<std::pair<std::string, std::string>> elsewhere_;
    bool help_ = false;
};

/// A whole number from `least` to `greatest`; `what` names it in the error: "`--jobs`".
std::uint64_t whole_number(std::string_view text, std::string_view what, std::uint64_t least, std::uint64_t greatest);
/// A number of seconds greater than 0 and up to a year.
double seconds(std::string_view text, std::string_view what);

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "console.h"
#include "soma/suggest.h"
#include "table.h"

namespace soma::cli {

namespace {

constexpr std::string_view help_names = "-h,--help";

/// "-q,--quiet" → {"-q", "--quiet"}.
std::vector<std::string> split_names(std::string_view names) {
    std::vector<std::string> out;
    for (auto comma = names.find(','); comma != std::string_view::npos; comma = names.find(',')) {
        out.emplace_back(names.substr(0, comma));
        names.remove_prefix(comma + 1);
    }
    out.emplace_back(names);
    return out;
}

} // namespace

Arguments::Arguments(std::string_view command, std::string_view about, std::string_view example)
    : command_(command), about_(about), example_(example) {}

void Arguments::positional(std::string_view name, std::string_view doc, std::string& into) {
    entries_.push_back({.names = std::string(name),
                        .placeholder = {},
                        .doc = std::string(doc),
                        .positional = true,
                        .required = true,
                        .repeated = false,
                        .take = [&into](const std::string& value) { into = value; },
                        .flag = nullptr});
}

void Arguments::optional_positional(std::string_view name, std::string_view doc, std::optional<std::string>& into) {
    entries_.push_back({.names = std::string(name),
                        .placeholder = {},
                        .doc = std::string(doc),
                        .positional = true,
                        .required = false,
                        .repeated = false,
                        .take = [&into](const std::string& value) { into = value; },
                        .flag = nullptr});
}

void Arguments::flag(std::string_view names, std::string_view doc, bool& into) {
    entries_.push_back({.names = std::string(names),
                        .placeholder = {},
                        .doc = std::string(doc),
                        .positional = false,
                        .required = false,
                        .repeated = false,
                        .take = {},
                        .flag = &into});
}

void Arguments::option(std::string_view names, std::string_view placeholder, std::string_view doc,
                       std::optional<std::string>& into) {
    entries_.push_back({.names = std::string(names),
                        .placeholder = std::string(placeholder),
                        .doc = std::string(doc),
                        .positional = false,
                        .required = false,
                        .repeated = false,
                        .take = [&into](const std::string& value) { into = value; },
                        .flag = nullptr});
}

void Arguments::repeated(std::string_view names, std::string_view placeholder, std::string_view doc,
                         std::vector<std::string>& into) {
    entries_.push_back({.names = std::string(names),
                        .placeholder = std::string(placeholder),
                        .doc = std::string(doc),
                        .positional = false,
                        .required = false,
                        .repeated = true,
                        .take = [&into](const std::string& value) { into.push_back(value); },
                        .flag = nullptr});
}

bool Arguments::parse(Args args) const {
    CLI::App app;
    app.set_help_flag();
    // What is left over is judged below: with a suggestion, and before anything that is missing.
    app.allow_extras();
    bool help_asked = false;
    app.add_flag(std::string(help_names), help_asked, "");

    std::vector<CLI::Option*> options;
    for (const Entry& entry : entries_) {
        if (entry.flag != nullptr) {
            options.push_back(app.add_flag(entry.names, *entry.flag, ""));
            continue;
        }
        CLI::Option* option = app.add_option(entry.names, [&entry](const CLI::results_t& values) {
            if (values.size() > 1 && !entry.repeated) {
                throw UsageError(fmt::format("`{}` is given {} times", entry.names, values.size()));
            }
            for (const std::string& value : values) entry.take(value);
            return true;
        });
        option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        options.push_back(option);
    }

    std::vector<std::string> reversed(args.rbegin(), args.rend());
    try {
        app.parse(std::move(reversed));
    } catch (const CLI::ArgumentMismatch& error) {
        // Only the last argument can lack its value: an option takes whatever follows.
        for (const Entry& entry : entries_) {
            const auto names = split_names(entry.names);
            if (!args.empty() && std::find(names.begin(), names.end(), args.back()) != names.end()) {
                throw UsageError(fmt::format("`{}` wants {} after it", args.back(), entry.placeholder));
            }
        }
        throw UsageError(error.what());
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what());
    }

    if (help_asked) {
        write_out(help());
        return false;
    }
    auto extras = app.remaining();
    // CLI11 counts the "--" before the positionals among what is left over.
    if (const auto mark = std::find(extras.begin(), extras.end(), "--"); mark != extras.end()) extras.erase(mark);
    if (!extras.empty()) throw UsageError(unexpected(extras.front()));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.required && options[i]->count() == 0) {
            throw UsageError(fmt::format("{} is missing: {}", entry.names, entry.doc));
        }
    }
    return true;
}

std::string Arguments::unexpected(const std::string& argument) const {
    if (argument.size() < 2 || argument.front() != '-') {
        return fmt::format("`{}` is one argument too many; an expression with blanks in it wants quotes around it",
                           argument);
    }
    // The long names: of one letter there is no nearest.
    std::vector<std::string> known{"--help"};
    for (const Entry& entry : entries_) {
        if (entry.positional) continue;
        known.push_back(split_names(entry.names).back());
    }
    const std::string name = argument.substr(0, argument.find('='));
    return fmt::format("`{}` takes no option `{}`{}", command_, name, did_you_mean(name, known));
}

std::string Arguments::help() const {
    std::string usage = fmt::format("somatize {}", command_);
    Table positionals;
    Table options;
    for (const Entry& entry : entries_) {
        if (entry.positional) {
            usage += entry.required ? " " + entry.names : " [" + entry.names + "]";
            positionals.row({entry.names, entry.doc});
            continue;
        }
        std::string names = entry.names;
        if (const auto comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
        if (!entry.placeholder.empty()) names += " " + entry.placeholder;
        options.row({names, entry.repeated ? entry.doc + " (any number of times)" : entry.doc});
    }
    options.row({"-h, --help", "print this page"});
    return fmt::format("{}\n\nUsage: {} [OPTIONS]\n\n{}\nOptions:\n{}\nExample:\n  {}\n", about_, usage,
                       positionals.str("  "), options.str("  "), example_);
}

std::uint64_t whole_number(std::string_view text, std::string_view what, std::uint64_t least, std::uint64_t greatest) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least || number > greatest) {
        throw UsageError(fmt::format("{} wants a whole number from {} to {}, not `{}`", what, least, greatest, text));
    }
    return number;
}

double seconds(std::string_view text, std::string_view what) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // A year is as good as no limit, and fits nanoseconds.
    if (error != std::errc{} || end != text.data() + text.size() || !(number > 0) || number > 31'536'000) {
        throw UsageError(fmt::format("{} wants a number of seconds greater than 0, such as 2.5, not `{}`", what, text));
    }
    return number;
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "console.h"
#include "soma/suggest.h"
#include "table.h"

namespace soma::cli {

namespace {

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

constexpr std::size_t help_entry = 0;

} // namespace

Arguments::Arguments(std::string_view command, std::string_view about, std::string_view example)
    : command_(command), about_(about), example_(example) {
    flag("-h,--help", "print this page", help_);
}

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

void Arguments::elsewhere(std::string_view name, std::string_view why) { elsewhere_.emplace_back(name, why); }

const Arguments::Entry& Arguments::known(std::string_view name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [name](const Entry& entry) {
        const auto names = split_names(entry.names);
        return !entry.positional && std::find(names.begin(), names.end(), name) != names.end();
    });
    if (found != entries_.end()) return *found;
    for (const auto& [option, why] : elsewhere_) {
        if (option == name) throw UsageError(fmt::format("`{}` takes no option `{}`: {}", command_, name, why));
    }
    std::vector<std::string> others;
    for (const Entry& entry : entries_) {
        // The long names: of one letter there is no nearest.
        if (!entry.positional) others.push_back(split_names(entry.names).back());
    }
    throw UsageError(fmt::format("`{}` takes no option `{}`{}", command_, name, did_you_mean(name, others)));
}

std::string_view Arguments::value_after(std::string_view name, const Entry& entry, Args& rest) {
    if (rest.empty()) throw UsageError(fmt::format("`{}` wants {} after it", name, entry.placeholder));
    // Also when it looks like an option: "--in -5".
    const std::string_view value = rest.front();
    rest = rest.subspan(1);
    return value;
}

void Arguments::parse_long(std::string_view word, Args& rest, Given& given) const {
    const auto equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const Entry& entry = known(name);
    const bool attached = equals != std::string_view::npos;
    if (entry.flag != nullptr && attached) {
        throw UsageError(fmt::format("`{}` takes no value: it is there or not", name));
    }
    std::string_view value;
    if (entry.flag == nullptr) value = attached ? word.substr(equals + 1) : value_after(name, entry, rest);
    given[index_of(entry)].emplace_back(value);
}

void Arguments::parse_short(std::string_view word, Args& rest, Given& given) const {
    for (std::size_t at = 1; at < word.size(); ++at) {
        const std::string name{'-', word[at]};
        const Entry& entry = known(name);
        auto& values = given[index_of(entry)];
        if (entry.flag != nullptr) {
            values.emplace_back();
            continue;
        }
        const std::string_view attached = word.substr(at + 1);
        values.emplace_back(attached.empty() ? value_after(name, entry, rest) : attached);
        return;
    }
}

bool Arguments::parse(Args args) const {
    Given given(entries_.size());
    std::vector<std::string> positionals;
    while (!args.empty()) {
        const std::string_view word = args.front();
        args = args.subspan(1);
        if (word == "--") {
            positionals.insert(positionals.end(), args.begin(), args.end());
            break;
        }
        if (word.starts_with("--")) {
            parse_long(word, args, given);
        } else if (word.size() > 1 && word.front() == '-') {
            parse_short(word, args, given);
        } else {
            positionals.emplace_back(word);
        }
    }
    if (!given[help_entry].empty()) {
        write_out(help());
        return false;
    }
    take(given, positionals);
    return true;
}

void Arguments::take(const Given& given, std::span<const std::string> positionals) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.positional) {
            if (!positionals.empty()) {
                entry.take(positionals.front());
                positionals = positionals.subspan(1);
            } else if (entry.required) {
                throw UsageError(fmt::format("{} is missing: {}", entry.names, entry.doc));
            }
            continue;
        }
        if (given[i].empty()) continue;
        if (entry.flag != nullptr) {
            *entry.flag = true;
            continue;
        }
        if (given[i].size() > 1 && !entry.repeated) {
            throw UsageError(fmt::format("`{}` is given {} times", entry.names, given[i].size()));
        }
        for (const std::string& value : given[i]) entry.take(value);
    }
    if (!positionals.empty()) throw UsageError(too_many(positionals.front()));
}

std::string Arguments::too_many(const std::string& argument) const {
    std::string takes;
    for (const Entry& entry : entries_) {
        if (!entry.positional) continue;
        if (entry.names == "GRAPH") {
            return fmt::format("`{}` is one argument too many; an expression with blanks in it wants quotes around it",
                               argument);
        }
        takes += (takes.empty() ? " " : " and ") + entry.names;
    }
    return fmt::format("`{}` is one argument too many: `{}` takes one{}", argument, command_, takes);
}

std::string Arguments::help() const {
    std::string usage = fmt::format("somatize {}", command_);
    Table positionals;
    Table options;
    // What every command has comes last.
    std::vector<Entry> in_order(entries_.begin() + 1, entries_.end());
    in_order.push_back(entries_[help_entry]);
    for (const Entry& entry : in_order) {
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
        throw UsageError(fmt::format("{} wants a number of seconds greater than 0 and up to 31536000, a year, such as "
                                     "2.5, not `{}`",
                                     what, text));
    }
    return number;
}

} // namespace soma::cli

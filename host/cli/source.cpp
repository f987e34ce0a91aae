// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <strings.h>
#include <system_error>

#include "files.h"
#include "soma/error.h"
#include "soma/suggest.h"

namespace soma::cli {

namespace fs = std::filesystem;

namespace {

/// Whatever its case.
bool has_ending(std::string_view text, std::string_view ending) {
    return text.size() >= ending.size() &&
           strncasecmp(text.data() + text.size() - ending.size(), ending.data(), ending.size()) == 0;
}

/// The file that was meant by a text such as `licence.som`, whose ending is nearly one of a graph's and which is nearly a
/// file that is there; or empty. A node type whose name ends so is not taken for one.
std::string misspelt_file(const std::string& text) {
    if (text.find_first_of(" \"\n>|(#=") != std::string::npos) return {};
    const auto dot = text.rfind('.');
    static const std::array<std::string, 2> endings{"soma", "json"};
    if (dot == std::string::npos || !nearest(text.substr(dot + 1), endings)) return {};
    return nearest_file(text, {".soma", ".json"});
}

/// Whether a text that names no file was meant to. Wire text has a '/' only between quotes or in a comment.
bool looks_like_a_path(std::string_view text) {
    if (has_ending(text, ".soma") || has_ending(text, ".json"))
        return text.find_first_of("\"\n>|(") == std::string_view::npos;
    return text.find('/') != std::string_view::npos && text.find_first_of(" \"\n>|(#") == std::string_view::npos;
}

} // namespace

Source Source::read(const std::string& argument) {
    std::error_code error;
    const auto status = fs::status(argument, error);
    if (fs::is_directory(status)) {
        throw SourceError(fmt::format("`{}` is a folder; the graph is a .soma file or an expression", argument));
    }
    if (fs::exists(status)) {
        try {
            return {has_ending(argument, ".json") ? Form::json : Form::wire, read_file(argument, most_of_a_graph),
                    argument};
        } catch (const std::runtime_error& failure) {
            throw SourceError(failure.what());
        }
    }
    if (looks_like_a_path(argument)) {
        std::string mend = nearest_file(argument, {".soma", ".json"});
        if (fs::exists(argument + ".soma", error)) mend = fmt::format(" (did you mean `{}.soma`?)", argument);
        const fs::path folder = fs::path(argument).parent_path();
        if (!folder.empty() && !fs::is_directory(folder, error)) {
            mend = fmt::format("; nor is there a folder `{}`", folder.string());
        }
        throw SourceError(fmt::format("there is no file `{}`{}", argument, mend));
    }
    if (const std::string meant = misspelt_file(argument); !meant.empty()) {
        throw SourceError(fmt::format("there is no file `{}`{}", argument, meant));
    }
    return {Form::wire, argument, {}};
}

detail::Located Source::located(std::span<const std::string> known_types,
                                std::vector<detail::WireFault>* faults) const {
    if (form == Form::wire) return detail::read_wire(text, name, known_types, faults);
    try {
        return {{Graph::from_json(text), {}}, {}};
    } catch (const Error& error) {
        throw GraphError(fmt::format("{}: {}", name, error.what()));
    }
}

std::string Source::at(const detail::Located& located, Graph::Index node, const std::string& message) const {
    if (form == Form::json || node >= located.offsets.size()) return message;
    return detail::at_place(text, name, located.offsets[node], message);
}

} // namespace soma::cli

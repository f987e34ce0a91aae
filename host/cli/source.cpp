// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "files.h"
#include "soma/error.h"
#include "soma/language.h"

namespace soma::cli {

namespace fs = std::filesystem;

namespace {

/// Whether a text that names no file was meant to. Wire text has a '/' only between quotes or in a comment.
bool looks_like_a_path(std::string_view text) {
    if (text.ends_with(".soma") || text.ends_with(".json"))
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
            return {argument.ends_with(".json") ? Form::json : Form::wire, read_file(argument), argument};
        } catch (const std::system_error& failure) {
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
    return {Form::wire, argument, {}};
}

Wired Source::wired(std::span<const std::string> known_types) const {
    if (form == Form::wire) return build(parse_wire(text, name, known_types));
    try {
        return {Graph::from_json(text), {}};
    } catch (const Error& error) {
        throw GraphError(fmt::format("{}: {}", name, error.what()));
    }
}

} // namespace soma::cli

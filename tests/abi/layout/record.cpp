// SPDX-License-Identifier: Apache-2.0
#include "layout/record.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace soma::layout {

namespace {

const std::string_view head =
    "# The plugin interface as it was released, for 64-bit pointers. Written once, never edited: see VERSIONING.md.\n";

std::string_view take_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

template <class Number>
Number number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::runtime_error("`" + std::string(text) + "` is no number");
    }
    return value;
}

// Adds what one line says. A field belongs to the last struct.
void read_line(std::string_view line, Record& record, Struct*& current) {
    if (line.starts_with("  ")) {
        if (current == nullptr) throw std::runtime_error("a field stands before any struct");
        line.remove_prefix(2);
        const auto offset = number<std::uint64_t>(take_word(line));
        const std::size_t name = line.rfind(' ');
        if (name == std::string_view::npos) throw std::runtime_error("a field needs offset, type and name");
        current->fields.push_back({std::string(line.substr(name + 1)), std::string(line.substr(0, name)), offset});
        return;
    }
    const std::string_view what = take_word(line);
    const std::string name(take_word(line));
    if (what == "version") {
        const std::size_t point = std::min(name.find('.'), name.size());
        record.major = number<unsigned>(std::string_view(name).substr(0, point));
        record.minor = number<unsigned>(std::string_view(name).substr(std::min(point + 1, name.size())));
    } else if (what == "struct") {
        current = &record.structs[name];
        current->name = name;
        current->size = number<std::uint64_t>(take_word(line));
        if (take_word(line) != "align") throw std::runtime_error("a struct needs name, size and `align`");
        current->alignment = number<std::uint64_t>(line);
    } else if (what == "constant") {
        record.constants[name] = line;
    } else {
        throw std::runtime_error("`" + std::string(what) + "` is not `version`, `struct` or `constant`");
    }
}

} // namespace

const Field* Struct::find(std::string_view field) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == field; });
    return found == fields.end() ? nullptr : &*found;
}

std::string to_text(const Record& record) {
    std::ostringstream text;
    text << head << "version " << record.major << '.' << record.minor << '\n';
    for (const auto& [name, is] : record.structs) {
        text << "\nstruct " << name << ' ' << is.size << " align " << is.alignment << '\n';
        for (const Field& field : is.fields) {
            text << "  " << field.offset << ' ' << field.type << ' ' << field.name << '\n';
        }
    }
    text << '\n';
    for (const auto& [name, is] : record.constants) text << "constant " << name << ' ' << is << '\n';
    return text.str();
}

Record from_text(std::string_view text) {
    Record record;
    Struct* current = nullptr;
    for (unsigned at = 1; !text.empty(); ++at) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        try {
            read_line(line, record, current);
        } catch (const std::runtime_error& error) {
            throw std::runtime_error("line " + std::to_string(at) + ": " + error.what());
        }
    }
    if (record.major == 0) throw std::runtime_error("the record has no version");
    if (record.structs.empty()) throw std::runtime_error("the record has no struct");
    return record;
}

Record from_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in.good()) throw std::runtime_error("cannot read " + file.string());
    try {
        return from_text(text.str());
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(file.string() + ", " + error.what());
    }
}

} // namespace soma::layout

// SPDX-License-Identifier: Apache-2.0
// The layout of the headers, as clang lays them out.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>

#include <sys/wait.h>

#include "layout/record.h"

namespace soma::layout {

namespace {

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// What the command prints; its errors too when it fails.
std::string output_of(const std::string& command) {
    std::string text;
    const auto close = [](FILE* file) { return pclose(file); };
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), close);
    if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) text.append(buffer, n);
    const int status = pclose(pipe.release());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(command + " failed:\n" + text);
    return text;
}

// As every version of clang writes it: no `struct`, no blank before an array's bracket.
std::string plain_type(const std::string& type) {
    static const std::regex keyword("\\bstruct ");
    static const std::regex blank(" \\[");
    return std::regex_replace(std::regex_replace(type, keyword, ""), blank, "[");
}

// Lines such as `        24 |   const char * device`, of which those of nested structs are indented further.
void read_structs(const std::string& dump, Record& record) {
    std::istringstream lines(dump);
    Struct current;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t bar = line.find(" | ");
        if (bar == std::string::npos) continue;
        const std::string text = line.substr(bar + 3);
        const std::size_t digit = line.find_first_not_of(' ');
        if (text.starts_with("struct ")) {
            current = Struct{text.substr(7), 0, 0, {}};
        } else if (text.starts_with("[sizeof=")) {
            if (std::sscanf(text.c_str(), "[sizeof=%lu, align=%lu", &current.size, &current.alignment) != 2) {
                throw std::runtime_error("clang wrote a size in an unknown way: " + line);
            }
            if (current.name.starts_with("soma_")) record.structs[current.name] = current;
        } else if (text.starts_with("  ") && text[2] != ' ' && digit < bar) {
            const std::size_t name = text.rfind(' ');
            current.fields.push_back(
                {text.substr(name + 1), plain_type(text.substr(2, name - 2)), std::stoull(line.substr(digit))});
        }
    }
}

unsigned version_of(const std::map<std::string, std::string>& macros, const char* name) {
    const auto found = macros.find(name);
    if (found == macros.end()) throw std::runtime_error(std::string("the headers do not define ") + name);
    return static_cast<unsigned>(std::stoul(found->second));
}

// Those with a value; what only helps to write C is none.
void read_constants(const std::string& defines, Record& record) {
    std::istringstream lines(defines);
    std::map<std::string, std::string> macros;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("#define SOMA_")) continue;
        const std::size_t end = std::min(line.find(' ', 8), line.size());
        const std::string name = line.substr(8, end - 8);
        std::string value = line.substr(std::min(end + 1, line.size()));
        if (name.find('(') != std::string::npos || value.empty() || name == "SOMA_EXPORT") continue;
        macros[name] = std::move(value);
    }
    record.major = version_of(macros, "SOMA_ABI_MAJOR");
    record.minor = version_of(macros, "SOMA_ABI_MINOR");
    macros.erase("SOMA_ABI_MAJOR");
    macros.erase("SOMA_ABI_MINOR");
    record.constants = std::move(macros);
}

} // namespace

Record from_headers(const std::string& clang, const std::filesystem::path& include) {
    std::string command = quoted(clang) + " -std=c11 -I " + quoted(include.string());
    std::vector<std::string> extensions;
    for (const auto& entry : std::filesystem::directory_iterator(include / "soma" / "ext")) {
        if (entry.path().extension() == ".h") extensions.push_back("soma/ext/" + entry.path().filename().string());
    }
    std::sort(extensions.begin(), extensions.end());
    for (const std::string& header : extensions) command += " -include " + quoted(header);
    command += " -include soma/abi.h -x c /dev/null";
    Record record;
    read_structs(output_of(command + " -fsyntax-only -Xclang -fdump-record-layouts-complete"), record);
    read_constants(output_of(command + " -E -dM"), record);
    return record;
}

} // namespace soma::layout

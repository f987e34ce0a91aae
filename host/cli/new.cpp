// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "arguments.h"
#include "command.h"
#include "console.h"
#include "files.h"
#include "soma/catalog.h"
#include "soma/suggest.h"
#include "soma/templates.h"

namespace soma::cli {

namespace fs = std::filesystem;

namespace {

/// Stands in the templates, texts and file names alike, where the plugin's name goes.
constexpr std::string_view placeholder = "plugin_name";
constexpr std::size_t longest_name = 64;

bool belongs(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// "My-Plugin" → "my_plugin"; empty where nothing is left to begin with.
std::string mended(std::string_view name) {
    std::string out;
    for (const char c : name.substr(0, longest_name)) {
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const char good = belongs(lower) ? lower : '_';
        if (!out.empty() || is_letter(good)) out += good;
    }
    while (out.ends_with('_')) out.pop_back();
    return out;
}

void check_name(const std::string& name) {
    if (!name.empty() && name.size() <= longest_name && is_letter(name.front()) &&
        std::all_of(name.begin(), name.end(), belongs)) {
        return;
    }
    const std::string mend = mended(name);
    throw UsageError(
        fmt::format("`{}` cannot be a plugin's name: names begin with a letter and have up to {} lower-case "
                    "letters, digits and `_`, such as `{}`",
                    name, longest_name, mend.empty() ? "hello" : mend));
}

std::string check_language(const std::optional<std::string>& asked) {
    const std::array<std::string, 3> known{"cpp", "c", "torch"};
    std::string language = asked.value_or("cpp");
    if (std::find(known.begin(), known.end(), language) != known.end()) return language;
    throw UsageError(fmt::format("--lang wants cpp, c or torch, not `{}`{}", language, did_you_mean(language, known)));
}

std::string with_name(std::string text, std::string_view name) {
    for (std::size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at)) {
        text.replace(at, placeholder.size(), name);
        at += name.size();
    }
    return text;
}

/// A file to be written: its path within the project, and all that is in it.
struct ProjectFile {
    fs::path path;
    std::string text;
};

void add_template(std::vector<ProjectFile>& project, const fs::path& folder, std::string_view name) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        throw std::runtime_error(
            fmt::format("there are no templates in `{}`, where this installation has them: install "
                        "it anew, and move it as a whole",
                        folder.string()));
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        project.push_back({with_name(entry.path().lexically_relative(folder).string(), name),
                           with_name(read_file(entry.path()), name)});
    }
}

/// A folder under way: it takes its name when it is complete, and is gone when it never is.
class Staging {
public:
    explicit Staging(fs::path folder) : folder_(std::move(folder)) {
        if (!fs::create_directory(folder_)) throw fs::filesystem_error("", folder_, exists());
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging() {
        std::error_code ignored;
        if (!done_) fs::remove_all(folder_, ignored);
    }

    void write(const ProjectFile& file) const {
        const fs::path path = folder_ / file.path;
        fs::create_directories(path.parent_path());
        errno = 0;
        std::ofstream out(path, std::ios::binary);
        out.write(file.text.data(), static_cast<std::streamsize>(file.text.size()));
        out.close();
        if (!out) throw fs::filesystem_error("", path, {errno == 0 ? EIO : errno, std::generic_category()});
    }
    /// An empty folder of that name is replaced; anything else there is an error.
    void become(const fs::path& target) {
        fs::rename(folder_, target);
        done_ = true;
    }

private:
    static std::error_code exists() { return std::make_error_code(std::errc::file_exists); }

    fs::path folder_;
    bool done_ = false;
};

/// Throws when there is something in the way.
void check_target(const fs::path& parent, const fs::path& target) {
    std::error_code error;
    if (!fs::is_directory(parent, error)) {
        throw UsageError(fmt::format("there is no folder `{}` to make the project in: make it first, or name another "
                                     "with --dir",
                                     parent.string()));
    }
    const fs::file_status status = fs::symlink_status(target, error);
    if (!fs::exists(status)) return;
    if (!fs::is_directory(status)) {
        throw UsageError(
            fmt::format("`{}` is there already, and is no folder: choose another name, or make the project "
                        "elsewhere with --dir",
                        target.string()));
    }
    if (!fs::is_empty(target, error) || error) {
        throw UsageError(
            fmt::format("the folder `{}` is there already, and is not empty: choose another name, or make the "
                        "project elsewhere with --dir",
                        target.string()));
    }
}

void write_project(const std::vector<ProjectFile>& project, const fs::path& target) {
    try {
        // In the same folder, so that it takes its name in one step.
        Staging staging(target.parent_path() / fmt::format(".{}.{}", target.filename().string(), getpid()));
        for (const ProjectFile& file : project) staging.write(file);
        staging.become(target);
    } catch (const fs::filesystem_error& failure) {
        throw std::runtime_error(fmt::format("cannot write the project `{}`: {}; nothing of it was left behind",
                                             target.string(), failure.code().message()));
    }
}

/// Says when a plugin of that name is installed: of two that give one type the second is refused.
void warn_if_taken(std::string_view name) {
    for (const fs::path& folder : plugin_search_path()) {
        const fs::path file = folder / fmt::format("{}.soma.so", name);
        std::error_code error;
        if (!fs::exists(file, error)) continue;
        report_warning(
            fmt::format("there is a plugin `{}` already, `{}`; a type that both give is taken from one, and the "
                        "other is refused whole",
                        name, file.string()));
        return;
    }
}

} // namespace

Exit new_command(Args args) {
    Arguments arguments("new", "Writes the project of a new plugin: its source, a test, a README and the build.",
                        "somatize new hello --lang c");
    std::string name;
    std::optional<std::string> asked_language;
    std::optional<std::string> folder;
    arguments.positional("NAME", "of the plugin, and of the folder that is made", name);
    arguments.option("--lang", "cpp|c|torch", "C++ (unless said otherwise), C, or C++ that links libtorch",
                     asked_language);
    arguments.option("--dir", "DIR", "make it in this folder instead of the current one", folder);
    arguments.elsewhere("--simulate", no_devices);
    if (!arguments.parse(args)) return Exit::ok;
    check_name(name);
    const std::string language = check_language(asked_language);

    const fs::path parent = folder ? fs::path(*folder) : fs::path(".");
    const fs::path target = folder ? parent / name : fs::path(name);
    check_target(parent, target);
    std::vector<ProjectFile> project;
    add_template(project, template_directory() / "common", name);
    add_template(project, template_directory() / language, name);
    std::sort(project.begin(), project.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    write_project(project, target);
    warn_if_taken(name);

    std::string text;
    for (const ProjectFile& file : project) text += fmt::format("{}\n", (target / file.path).string());
    text += fmt::format("\n`sh {}` builds and tests it; {} says more\n", (target / "ci.sh").string(),
                        (target / "README.md").string());
    write_out(text);
    leave(Exit::ok);
}

} // namespace soma::cli

// SPDX-License-Identifier: Apache-2.0
// Takes the fenced blocks out of the documentation, so that tests can run them.
//
//     docs_extract ROOT OUT FILE.md...
//
// FILEs are relative to ROOT. By the word after the fence:
//   cpp         the body of a function: becomes a test case of OUT/snippets.cpp, its #includes go to the top
//   cpp plugin  a whole plugin: OUT/plugins/NAME.cpp;  c plugin: OUT/plugins/NAME.c
//   sh plugin   a script that runs beside the plugin before it, once that is built: OUT/plugins/NAME.sh with that one's NAME
//   sh          a script: OUT/commands/NAME.sh
//   text        right after a script, its output: NAME.out beside it
//   soma        a graph: OUT/graphs/NAME.soma
// Every other word is for the reader only.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Block {
    std::string kind;
    std::string text;
    std::string name;     ///< of the file and line it begins at, fit for a file name
    std::string place;    ///< the same for a person
    bool follows = false; ///< only blank lines since the block before
};

std::vector<Block> blocks_of(const fs::path& root, const std::string& file) {
    std::ifstream in(root / file);
    if (!in) throw std::runtime_error("cannot read " + (root / file).string());
    std::vector<Block> blocks;
    bool inside = false;
    bool near = false;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const bool fence = line.rfind("```", 0) == 0;
        if (inside && fence) {
            inside = false;
            near = true;
        } else if (inside) {
            blocks.back().text += line + '\n';
        } else if (fence) {
            inside = true;
            std::string name = file + "_" + std::to_string(number);
            std::replace_if(
                name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
            blocks.push_back({line.substr(3), {}, name, file + " line " + std::to_string(number), near});
        } else if (!line.empty()) {
            near = false;
        }
    }
    if (inside) throw std::runtime_error(file + ": the last block is not closed");
    return blocks;
}

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

} // namespace

int main(int argc, char** argv) try {
    if (argc < 4) {
        std::cerr << "usage: docs_extract ROOT OUT FILE.md...\n";
        return 2;
    }
    const fs::path root = argv[1];
    const fs::path out = argv[2];
    for (const char* part : {"commands", "graphs", "plugins"}) fs::remove_all(out / part);

    std::set<std::string> includes;
    std::string cases;
    const auto write_script = [](const fs::path& path, const std::vector<Block>& blocks, std::size_t at) {
        write(fs::path(path) += ".sh", blocks[at].text);
        if (at + 1 < blocks.size() && blocks[at + 1].kind == "text" && blocks[at + 1].follows) {
            write(fs::path(path) += ".out", blocks[at + 1].text);
        }
    };
    for (int i = 3; i < argc; ++i) {
        const std::vector<Block> blocks = blocks_of(root, argv[i]);
        std::string plugin;
        for (std::size_t at = 0; at < blocks.size(); ++at) {
            const Block& block = blocks[at];
            if (block.kind == "cpp") {
                std::istringstream lines(block.text);
                std::string body;
                for (std::string line; std::getline(lines, line);) {
                    if (line.rfind("#include", 0) == 0) {
                        includes.insert(line);
                    } else {
                        body += "    " + line + '\n';
                    }
                }
                cases += "TEST_CASE(\"" + block.place + " does what it says\") {\n" + body + "}\n\n";
            } else if (block.kind == "cpp plugin" || block.kind == "c plugin") {
                plugin = block.name;
                write(out / "plugins" / (plugin + (block.kind == "c plugin" ? ".c" : ".cpp")), block.text);
            } else if (block.kind == "soma") {
                write(out / "graphs" / (block.name + ".soma"), block.text);
            } else if (block.kind == "sh plugin") {
                if (plugin.empty()) throw std::runtime_error(block.place + ": no plugin comes before this");
                write_script(out / "plugins" / plugin, blocks, at);
            } else if (block.kind == "sh") {
                write_script(out / "commands" / block.name, blocks, at);
            }
        }
    }
    std::string source = "// Made from the documentation.\n";
    for (const std::string& include : includes) source += include + '\n';
    source +=
        "#include \"support/catch.h\"\n\nnamespace {\nvoid check(bool held) { REQUIRE(held); }\n} // namespace\n\n" +
        cases;
    write(out / "snippets.cpp", source);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "docs_extract: " << error.what() << '\n';
    return 1;
}

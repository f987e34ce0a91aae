// SPDX-License-Identifier: Apache-2.0
// `somatize verify` where there is no plugin to check, or no tensor library to check it with.
#include <filesystem>

#include "process.h"
#include "support/catch.h"

namespace fs = std::filesystem;
using soma::test::Finished;
using soma::test::Launch;
using soma::test::somatize;
using soma::test::TemporaryFolder;
using soma::test::write_file;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Finished verify_lie(const std::string& way) {
    Launch launch;
    launch.args = {"verify", (soma::test::test_plugins("lies") / "lies.soma.so").string()};
    launch.environment = {{"SOMA_LIE", way}};
    return soma::test::run(launch);
}

} // namespace

TEST_CASE("verify has a page of help") {
    const Finished done = somatize({"help", "verify"});
    CHECK(done.exit == 0);
    CHECK(done.err.empty());
    CHECK(has(done.out, "Usage: somatize verify PLUGIN [OPTIONS]\n"));
    CHECK(has(done.out, "--timeout SECONDS  how long one check may take; else 60\n"));
    CHECK(somatize({"verify", "--help"}).out == done.out);
    CHECK(has(somatize({"--help"}).out, "verify   check that a plugin keeps what it promises\n"));
}

TEST_CASE("verify wants a plugin that is there") {
    const Finished none = somatize({"verify"});
    CHECK(none.exit == 2);
    CHECK(has(none.err, "PLUGIN is missing"));
    const Finished misspelt = somatize({"verify", (soma::test::probe_plugins() / "cliprob.soma.so").string()});
    CHECK(misspelt.exit == 2);
    CHECK(has(misspelt.err, "did you mean `cliprobe.soma.so`?"));
    const Finished unknown = somatize({"verify", "no_such_plugin"});
    CHECK(unknown.exit == 2);
    CHECK(unknown.err == "somatize: error: there is no plugin `no_such_plugin`: name its file, such as "
                         "`build/no_such_plugin.soma.so`\n`somatize verify --help` shows how it is used\n");
}

TEST_CASE("verify wants a time that is one") {
    const Finished done = somatize({"verify", "text", "--timeout", "soon"});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "--timeout wants a number of seconds greater than 0"));
}

TEST_CASE("verify ends with 4 for a file that is refused") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "notes.soma.so").string();
    write_file(file, "this is text\n");
    const Finished done = somatize({"verify", file});
    CHECK(done.exit == 4);
    CHECK(done.out.empty());
    CHECK(has(done.err, "notes.soma.so"));
    const Finished unsound = verify_lie("unsound_default");
    CHECK(unsound.exit == 4);
    CHECK(has(unsound.err, "node type `lie.unsound_default`, configuration field `name`: its default: expected one of "
                           "\"y\", \"z\", got string \"x\""));
}

TEST_CASE("verify finds a plugin by its name and checks what it can without a tensor library") {
    // An installed tree may lie anywhere; this one has the shipped plugins, and no engine.
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "bin");
    const fs::path libraries = soma::test::program().parent_path().parent_path() / "lib";
    fs::copy_file(soma::test::program(), folder.path() / "bin" / "somatize");
    fs::create_directories(folder.path() / "lib");
    for (const auto& entry : fs::directory_iterator(libraries)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libsomatize.so"))
            fs::copy(entry.path(), folder.path() / "lib" / name, fs::copy_options::copy_symlinks);
    }
    Launch launch;
    launch.program = folder.path() / "bin" / "somatize";
    launch.environment = {{"SOMATIZE_PLUGIN_PATH", soma::test::shipped_plugins().string()},
                          {"LD_LIBRARY_PATH", (folder.path() / "lib").string()}};
    launch.args = {"verify", "text"};
    const Finished text = soma::test::run(launch);
    INFO(text.out);
    CHECK(text.exit == 0);
    CHECK(has(text.out, "\nno tensor library\n"));
    CHECK(has(text.out, "text.tokenize  runs on cpu          pass: list of 6\n"));
    CHECK(has(text.out, "text.tokenize  same result twice    pass\n"));
    CHECK(has(text.out, "text.tokenize  runs on meta         not checked: tensors are needed, but the tensor engine "
                        "cannot be loaded ("));
    launch.args = {"verify", "nn"};
    const Finished nn = soma::test::run(launch);
    INFO(nn.out);
    CHECK(nn.exit == 0);
    CHECK(has(nn.out, "nn.encoder     defaults             not checked: it needs tensors: tensors are needed, but the "
                      "tensor engine cannot be loaded ("));
    CHECK(has(nn.out, "nn.encoder     gradients            not checked: "));
}

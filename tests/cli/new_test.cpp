// SPDX-License-Identifier: Apache-2.0
// `somatize new`: what it writes, and that it writes all of it or nothing. That the projects build is seen where the
// installed package is.
#include <algorithm>

#include "process.h"
#include "support/catch.h"

using soma::test::Finished;
using soma::test::Launch;
using soma::test::somatize;
using soma::test::TemporaryFolder;
using soma::test::write_file;

namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Finished make(const fs::path& folder, std::vector<std::string> args) {
    Launch launch;
    launch.args = {"new"};
    launch.args.insert(launch.args.end(), args.begin(), args.end());
    launch.folder = folder;
    return soma::test::run(launch);
}

/// Every file below, hidden ones too, sorted.
std::vector<std::string> files(const fs::path& folder) {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_directory()) out.push_back(entry.path().lexically_relative(folder).string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// Ends with 2, says it, and leaves the folder as empty as it was.
void refused(std::vector<std::string> args, const std::string& message) {
    const TemporaryFolder folder;
    const Finished done = make(folder.path(), std::move(args));
    INFO(message);
    CHECK(done.exit == 2);
    CHECK(done.out.empty());
    CHECK(done.err.substr(0, done.err.find('\n')) == "somatize: error: " + message);
    CHECK(fs::is_empty(folder.path()));
}

} // namespace

TEST_CASE("the name of a plugin that is there already is warned of") {
    const TemporaryFolder folder;
    const Finished done = make(folder.path(), {"nn"});
    CHECK(done.exit == 0);
    CHECK(has(done.err, "somatize: warning: there is a plugin `nn` already, `"));
    CHECK(make(folder.path(), {"hello"}).err.empty());
}

TEST_CASE("new is among the commands and has a help page") {
    CHECK(has(somatize({"--help"}).out, "\n  new "));
    const Finished done = somatize({"new", "--help"});
    CHECK(done.exit == 0);
    CHECK(has(done.out, "Usage: somatize new NAME [OPTIONS]"));
    CHECK(has(done.out, "--lang cpp|c|torch"));
    CHECK(somatize({"help", "new"}).out == done.out);
}

TEST_CASE("new writes a project in each language and says what it wrote") {
    for (const auto& [language, source] :
         {std::pair<std::string, std::string>{"cpp", "hello_2.cpp"}, {"c", "hello_2.c"}, {"torch", "hello_2.cpp"}}) {
        INFO(language);
        const TemporaryFolder folder;
        const Finished done = make(folder.path(), {"hello_2", "--lang", language});
        CHECK(done.exit == 0);
        CHECK(done.err.empty());
        std::vector<std::string> wanted{".gitignore", "CMakeLists.txt", "README.md", "ci.sh", source, "test.sh"};
        std::sort(wanted.begin(), wanted.end());
        REQUIRE(files(folder.path() / "hello_2") == wanted);
        CHECK(files(folder.path()).size() == wanted.size());
        for (const std::string& file : wanted) {
            INFO(file);
            CHECK(has(done.out, "hello_2/" + file + "\n"));
            const std::string text = soma::test::read_file(folder.path() / "hello_2" / file);
            CHECK_FALSE(text.empty());
            CHECK_FALSE(has(text, "plugin_name"));
        }
        CHECK(has(soma::test::read_file(folder.path() / "hello_2" / source), "\"hello_2.scale\""));
        CHECK(has(done.out, "`sh hello_2/ci.sh` builds and tests it; hello_2/README.md says more\n"));
    }
}

TEST_CASE("new writes C++ unless told otherwise") {
    const TemporaryFolder folder;
    CHECK(make(folder.path(), {"hello"}).exit == 0);
    CHECK(fs::exists(folder.path() / "hello/hello.cpp"));
    CHECK_FALSE(has(soma::test::read_file(folder.path() / "hello/CMakeLists.txt"), "torch"));
}

TEST_CASE("new makes the project in the folder it is told") {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "mine");
    CHECK(make(folder.path(), {"hello", "--dir", "mine"}).exit == 0);
    CHECK(fs::exists(folder.path() / "mine/hello/README.md"));
    CHECK_FALSE(fs::exists(folder.path() / "hello"));
}

TEST_CASE("new takes an empty folder of the name") {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "hello");
    CHECK(make(folder.path(), {"hello"}).exit == 0);
    CHECK(fs::exists(folder.path() / "hello/README.md"));
}

TEST_CASE("what new makes is open to the same people as what else is made") {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "made");
    REQUIRE(make(folder.path(), {"hello"}).exit == 0);
    CHECK(fs::status(folder.path() / "hello").permissions() == fs::status(folder.path() / "made").permissions());
}

TEST_CASE("a name that is none says what names are and offers a good one") {
    const std::string rule = " cannot be a plugin's name: names begin with a letter and have up to 64 lower-case "
                             "letters, digits and `_`, such as ";
    refused({"My-Plugin"}, "`My-Plugin`" + rule + "`my_plugin`");
    refused({"2fast"}, "`2fast`" + rule + "`fast`");
    refused({"../out"}, "`../out`" + rule + "`out`");
    refused({"a.b"}, "`a.b`" + rule + "`a_b`");
    refused({"_"}, "`_`" + rule + "`hello`");
    refused({""}, "``" + rule + "`hello`");
    refused({"naïve"}, "`naïve`" + rule + "`na__ve`");
    const std::string longest(64, 'x');
    refused({longest + "y"}, "`" + longest + "y`" + rule + "`" + longest + "`");
    const TemporaryFolder folder;
    CHECK(make(folder.path(), {longest}).exit == 0);
}

TEST_CASE("a missing name is a usage error") {
    refused({}, "NAME is missing: of the plugin, and of the folder that is made");
}

TEST_CASE("an unknown language offers the nearest") {
    refused({"hello", "--lang", "tourch"}, "--lang wants cpp, c or torch, not `tourch` (did you mean `torch`?)");
    refused({"hello", "--lang", "rust"}, "--lang wants cpp, c or torch, not `rust`");
}

TEST_CASE("new leaves what is in its way alone") {
    const TemporaryFolder folder;
    fs::create_directory(folder.path() / "hello");
    write_file(folder.path() / "hello/notes", "mine\n");
    write_file(folder.path() / "file", "mine\n");
    fs::create_symlink("nowhere", folder.path() / "link");
    const auto before = files(folder.path());

    const Finished full = make(folder.path(), {"hello"});
    CHECK(full.exit == 2);
    CHECK(has(full.err,
              "the folder `hello` is there already, and is not empty: choose another name, or make the project "
              "elsewhere with --dir"));
    for (const std::string name : {"file", "link"}) {
        const Finished done = make(folder.path(), {name});
        CHECK(done.exit == 2);
        CHECK(has(done.err, "`" + name + "` is there already, and is no folder"));
    }
    CHECK(files(folder.path()) == before);
    CHECK(soma::test::read_file(folder.path() / "hello/notes") == "mine\n");
}

TEST_CASE("a folder to make the project in that is not there is a usage error") {
    refused({"hello", "--dir", "nowhere"},
            "there is no folder `nowhere` to make the project in: make it first, or name another with --dir");
}

TEST_CASE("a folder that takes no project is an error that names it") {
    // Nobody can write there, not even root.
    const Finished done = somatize({"new", "hello", "--dir", "/proc"});
    CHECK(done.exit == 1);
    CHECK(has(done.err, "cannot write the project `/proc/hello`: "));
}

TEST_CASE("a project that cannot be written to its end leaves nothing behind") {
    const TemporaryFolder folder;
    Launch launch;
    launch.program = "/bin/sh";
    launch.folder = folder.path();
    launch.args = {"-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" new hello", soma::test::program().string()};
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 1);
    CHECK(done.out.empty());
    CHECK(done.err ==
          "somatize: error: cannot write the project `hello`: File too large; nothing of it was left behind\n");
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("an installation without its templates says where they should be") {
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "bin");
    fs::create_directories(folder.path() / "lib");
    fs::copy_file(soma::test::program(), folder.path() / "bin/somatize");
    const fs::path libraries = soma::test::program().parent_path().parent_path() / "lib";
    for (const auto& entry : fs::directory_iterator(libraries)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libsomatize.so"))
            fs::copy(entry.path(), folder.path() / "lib" / name, fs::copy_options::copy_symlinks);
    }
    Launch launch;
    launch.program = folder.path() / "bin/somatize";
    launch.environment = {{"LD_LIBRARY_PATH", (folder.path() / "lib").string()}};
    launch.folder = folder.path();
    launch.args = {"new", "hello"};
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 1);
    CHECK(has(done.err,
              "there are no templates in `" + (folder.path() / "share/somatize/templates/common").string() + "`"));
    CHECK_FALSE(fs::exists(folder.path() / "hello"));
}

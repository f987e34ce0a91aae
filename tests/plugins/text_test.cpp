// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "run.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;
using namespace soma::test;

namespace fs = std::filesystem;

TEST_CASE("text.tokenize splits a text into words in lower case") {
    CHECK(strings(run("text.tokenize", "The quick, brown FOX -- 42 times!")) ==
          std::vector<std::string>{"the", "quick", "brown", "fox", "42", "times"});
    CHECK(strings(run("text.tokenize(lower=false)", "The FOX")) == std::vector<std::string>{"The", "FOX"});
    CHECK(strings(run("text.tokenize", "")).empty());
    CHECK(strings(run("text.tokenize", " \n\t.,;")).empty());
}

TEST_CASE("text.tokenize keeps apostrophes within a word and drops those around it") {
    CHECK(strings(run("text.tokenize", "don't 'quote' dogs' it\u2019s")) ==
          std::vector<std::string>{"don't", "quote", "dogs", "it's"});
}

TEST_CASE("text.tokenize knows letters of any script") {
    CHECK(strings(run("text.tokenize", "ÄRGER Ελλάδα МОСКВА 東京 naïve")) ==
          std::vector<std::string>{"ärger", "ελλάδα", "москва", "東京", "naïve"});
}

TEST_CASE("text.tokenize gives a list for each text of a list") {
    const Value lists = run("text.tokenize", list_of({"one two", "", "three"}));
    REQUIRE(lists.size() == 3);
    CHECK(strings(lists.at(0)) == std::vector<std::string>{"one", "two"});
    CHECK(lists.at(1).size() == 0);
    CHECK(strings(lists.at(2)) == std::vector<std::string>{"three"});
}

TEST_CASE("text.tokenize says what it wants when it gets something else") {
    CHECK(holds(failure("text.tokenize", 5), "the input must be a text or a list of texts, not an int"));
    CHECK(holds(failure("text.tokenize", Value::list({"a", 5})), "a text in the list must be a string, not an int"));
}

TEST_CASE("text.read gives one text for a file and a list for a directory or a list") {
    const TemporaryFolder folder;
    write(folder.path() / "b", "second");
    write(folder.path() / "a", "first");
    fs::create_symlink(folder.path() / "a", folder.path() / "link");
    fs::create_directory(folder.path() / "c");
    CHECK(run("text.read", (folder.path() / "a").string()).as_string() == "first");
    CHECK(strings(run("text.read", folder.path().string())) == std::vector<std::string>{"first", "second"});
    CHECK(strings(run("text.read", list_of({(folder.path() / "b").string(), folder.path().string()}))) ==
          std::vector<std::string>{"second", "first", "second"});
    CHECK(run("text.read", (folder.path() / "link").string()).as_string() == "first");
}

TEST_CASE("text.read replaces bytes that are not UTF-8") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "f";
    const auto text = [&](std::string_view bytes) {
        write(file, bytes);
        return std::string{run("text.read", file.string()).as_string()};
    };
    CHECK(text("caf\xe9!") == "caf\uFFFD!");
    CHECK(text("caf\xc3\xa9") == "café");
    CHECK(text("\xe2\x82") == "\uFFFD"); // cut short: one wrong part
    CHECK(text("\xe2\x82x") == "\uFFFDx");
    CHECK(text("\xc0\xaf") == "\uFFFD\uFFFD");           // overlong
    CHECK(text("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD"); // a surrogate
    CHECK(text("\xf4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(text("\xf0\x9f\x98\x80") == "😀");
    CHECK(text(std::string_view{"a\0b", 3}) == std::string_view{"a\0b", 3});
    CHECK(text("").empty());
}

TEST_CASE("text.read names the path and the reason when it cannot read") {
    const TemporaryFolder folder;
    const std::string missing = (folder.path() / "missing").string();
    CHECK(holds(failure("text.read", missing), "cannot read `" + missing + "`: No such file or directory"));
    CHECK(holds(failure("text.read", list_of({missing})), "cannot read `" + missing + "`: No such file or directory"));
    CHECK(holds(failure("text.read", ""), "the path is empty"));
    CHECK(holds(failure("text.read", std::string_view{"/etc/passwd\0.txt", 16}), "goes on after a NUL byte"));
    CHECK(holds(failure("text.read", 5), "the input must be a path or a list of paths, not an int"));
    CHECK(holds(failure("text.read", "/dev/null"), "it is a device, not a regular file or a directory"));
}

TEST_CASE("text.read refuses a FIFO without waiting for it") {
    const TemporaryFolder folder;
    const std::string fifo = (folder.path() / "fifo").string();
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(holds(failure("text.read", fifo), "cannot read `" + fifo + "`: it is a FIFO"));
    CHECK(run("text.read", folder.path().string()).size() == 0);
}

TEST_CASE("text.files lists the regular files that paths lead to") {
    const TemporaryFolder folder;
    write(folder.path() / "b", "");
    write(folder.path() / ".hidden", "");
    write(folder.path() / "a", "");
    fs::create_symlink(folder.path() / "a", folder.path() / "link");
    const std::string root = folder.path().string();
    CHECK(strings(run("text.files", root)) == std::vector<std::string>{root + "/.hidden", root + "/a", root + "/b"});
    CHECK(strings(run("text.files", root + "/")) ==
          std::vector<std::string>{root + "/.hidden", root + "/a", root + "/b"});
    CHECK(strings(run("text.files", root + "/a")) == std::vector<std::string>{root + "/a"});
}

TEST_CASE("text.files names a file whose name is not UTF-8") {
    const TemporaryFolder folder;
    write(folder.path() / "caf\xe9", "");
    CHECK(holds(failure("text.files", folder.path().string()), R"(the file name `caf\xe9` in it is not UTF-8)"));
}

TEST_CASE("text.names gives the last part of each path") {
    CHECK(strings(run("text.names", list_of({"/a/b.txt", "c", "/d/e/", "/"}))) ==
          std::vector<std::string>{"b.txt", "c", "e", "/"});
    CHECK(run("text.names", "/a/b.txt").as_string() == "b.txt");
}

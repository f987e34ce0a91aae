// SPDX-License-Identifier: Apache-2.0
// `somatize run` on many items: a result a line, in their order.
#include <csignal>

#include "process.h"
#include "soma/json.h"
#include "soma/value.h"
#include "support/catch.h"

using soma::Value;
using soma::test::appears;
using soma::test::Finished;
using soma::test::Launch;
using soma::test::Process;
using soma::test::somatize;
using soma::test::TemporaryFolder;
using soma::test::write_file;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = text.find('\n', begin);
        REQUIRE(end != std::string::npos);
        out.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

} // namespace

TEST_CASE("each line of the input is run by itself and gives a line") {
    const std::string input = "1\n[2, 3]\nsome text\n\n{\"a\": null}";
    const std::string expected = input + "\n";
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", "@-"}, input).out == expected);
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", input}).out == expected);
    const TemporaryFolder folder;
    write_file(folder.path() / "items", input + "\n");
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", "@" + (folder.path() / "items").string()}).out == expected);
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", "@-"}, "").out.empty());
}

TEST_CASE("each element of a list is run by itself and gives a line") {
    CHECK(somatize({"run", "probe.echo", "--each", "--in", "[1, \"two\\nlines\", null, []]"}).out ==
          "1\ntwo\\nlines\nnull\n[]\n");
    CHECK(somatize({"run", "probe.echo", "--each", "--in", "@-"}, "[[1], [2]]").out == "[1]\n[2]\n");
    const Finished text = somatize({"run", "probe.echo", "--each", "--in", "text"});
    CHECK(text.exit == 2);
    CHECK(has(text.err, "--each wants `--in` to be a list, not string"));
}

TEST_CASE("the results of many items come in order whatever number is in flight") {
    std::string input;
    for (int i = 0; i < 2000; ++i) input += std::to_string(i) + "\n";
    for (const char* in_flight : {"1", "2", "7"}) {
        const Finished done = somatize(
            {"run", "probe.echo >> probe.echo", "--lines", "--in", "@-", "--in-flight", in_flight, "--jobs", "2"},
            input);
        CHECK(done.exit == 0);
        CHECK(done.out == input);
    }
}

TEST_CASE("an item that fails is named and the others go on") {
    const Finished done = somatize({"run", "text.tokenize", "--each", "--in", R"(["a b", 5, "c d"])"});
    CHECK(done.exit == 1);
    CHECK(done.out == "[\"a\", \"b\"]\n\n[\"c\", \"d\"]\n");
    CHECK(done.err.starts_with("somatize: error: item 1: node `tokenize` failed: "));
}

TEST_CASE("a line is text whatever it looks like") {
    const Finished done =
        somatize({"run", "text.tokenize", "--lines", "--in", "@-"}, "2024\ntrue\nword\n{\"tensor\": [1]}\n");
    CHECK(done.exit == 0);
    CHECK(done.out == "[\"2024\"]\n[\"true\"]\n[\"word\"]\n[\"tensor\", \"1\"]\n");
}

TEST_CASE("a line that is not UTF-8 fails by its number and the others go on") {
    for (const char* in_flight : {"1", "3"}) {
        const std::vector<std::string> args{"run", "probe.echo", "--lines", "--in", "@-", "--in-flight", in_flight};
        const Finished done = somatize(args, "\xfe\none\n\xff\n\xff\ntwo\n\xff");
        CHECK(done.exit == 1);
        CHECK(done.out == "\none\n\n\ntwo\n\n");
        for (const char* item : {"item 0: ", "item 2: ", "item 3: ", "item 5: "}) {
            INFO(item);
            CHECK(has(done.err, std::string("somatize: error: ") + item));
        }
        CHECK(has(done.err, "UTF-8"));
        CHECK_FALSE(has(done.err, "@FILE"));
    }
    const Finished json = somatize({"run", "probe.echo", "--lines", "--json", "--in", "@-"}, "\xff\none\n");
    const auto lines = lines_of(json.out);
    REQUIRE(lines.size() == 2);
    CHECK(soma::parse_json(lines[0]).find("item")->as_int() == 0);
    CHECK(soma::parse_json(lines[0]).find("failures") != nullptr);
    CHECK(soma::parse_json(lines[1]) == soma::parse_json(R"({"item": 1, "result": "one"})"));
}

TEST_CASE("the text of a line comes out as it went in") {
    const std::string input = "a\tb\\t\n\\\n \x1b \n";
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", "@-"}, input).out == input);
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", "@-"}, "a\r\nb\r\n\r\n").out == "a\nb\n\n");
}

TEST_CASE("many items as JSON are an object a line") {
    const Finished done = somatize({"run", "text.tokenize", "--each", "--json", "--in", R"(["a b", 5])"});
    CHECK(done.exit == 1);
    const auto lines = lines_of(done.out);
    REQUIRE(lines.size() == 2);
    CHECK(soma::parse_json(lines[0]) == soma::parse_json(R"({"item": 0, "result": ["a", "b"]})"));
    const Value failed = soma::parse_json(lines[1]);
    CHECK(failed.find("item")->as_int() == 1);
    CHECK(failed.find("result") == nullptr);
    CHECK(has(std::string(failed.find("failures")->at(0).as_string()), "node `tokenize` failed"));
}

TEST_CASE("options for many items go together or not at all") {
    CHECK(somatize({"run", "probe.echo", "--each", "--lines", "--in", "[]"}).exit == 2);
    CHECK(somatize({"run", "probe.echo", "--lines"}).exit == 2);
    CHECK(somatize({"run", "probe.echo", "--in-flight", "2", "--in", "1"}).exit == 2);
    CHECK(somatize({"run", "probe.echo", "--each", "--in", "[]", "--in-flight", "0"}).exit == 2);
    CHECK(somatize({"run", "probe.echo", "--lines", "--in", "@/nowhere"}).exit == 2);
}

TEST_CASE("an output that cannot be written ends a run of many items") {
    Launch launch;
    launch.args = {"run", "probe.echo", "--lines", "--in", "1\n2\n3"};
    launch.out_file = "/dev/full";
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 1);
    CHECK(done.err == "somatize: error: cannot write the output: No space left on device\n");
}

TEST_CASE("Ctrl-C ends a run of many items that waits for its input") {
    const TemporaryFolder folder;
    Launch launch;
    launch.args = {"run", "probe.wait(seconds=0, touch=\"" + (folder.path() / "started").string() + "\")", "--lines",
                   "--in", "@-"};
    launch.input = "one\n";
    launch.input_open = true;
    launch.limit = std::chrono::seconds(30);
    Process process(launch);
    REQUIRE(appears(folder.path() / "started"));
    process.send(SIGINT);
    const Finished done = process.wait();
    CHECK_FALSE(done.timed_out);
    CHECK(done.exit == 130);
}

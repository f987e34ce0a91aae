// SPDX-License-Identifier: Apache-2.0
// `somatize run`: what goes in, what comes out, how it fails, how it is stopped.
#include <csignal>
#include <thread>

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

/// What `probe.echo` makes of `--in argument`.
Value echoed(const std::string& argument, std::string standard_input = {}) {
    const Finished done = somatize({"run", "probe.echo", "--json", "--in", argument}, std::move(standard_input));
    INFO(done.err);
    REQUIRE(done.exit == 0);
    return *soma::parse_json(done.out).find("result");
}

std::string printed(const std::string& argument) {
    return somatize({"run", "probe.echo", "--quiet", "--in", argument}).out;
}

std::string wait_graph(const std::filesystem::path& touch) {
    return "probe.echo >> probe.wait(touch=\"" + touch.string() + "\").named(\"slow\") >> probe.echo";
}

} // namespace

TEST_CASE("an input is JSON where it parses as such and text else") {
    CHECK(echoed("7") == Value(7));
    CHECK(echoed("-7") == Value(-7));
    CHECK(echoed("7.0") == Value(7.0));
    CHECK(echoed("true") == Value(true));
    CHECK(echoed("null") == Value());
    CHECK(echoed("\"7\"") == Value("7"));
    CHECK(echoed("[1, \"a\", {\"b\": []}]") == Value::list({1, "a", Value::dict({{"b", Value::list({})}})}));
    CHECK(echoed("[only looks like it]") == Value("[only looks like it]"));
    CHECK(echoed("some text") == Value("some text"));
    CHECK(echoed("") == Value(""));
    CHECK(echoed("--help") == Value("--help"));
    CHECK(echoed("[[1, 2], [3]]") == Value::list({Value::list({1, 2}), Value::list({3})}));
    CHECK(echoed("größer als 漢字") == Value("größer als 漢字"));
}

TEST_CASE("an input is read from a file or from standard input") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "input").string();
    write_file(file, "two\nlines\n");
    CHECK(echoed("@" + file) == Value("two\nlines\n"));
    write_file(file, "[1, 2]\n");
    CHECK(echoed("@" + file) == Value::list({1, 2}));
    CHECK(echoed("@-", "{\"a\": 1}") == Value::dict({{"a", 1}}));
    CHECK(echoed("@-", "") == Value(""));
    CHECK(echoed("@@home") == Value("@home"));
    CHECK(somatize({"run", "probe.echo", "-q", "--in", "@" + folder.path().string()}).exit == 2);
}

TEST_CASE("a file that is no text arrives as bytes") {
    const std::string bytes("\xff\x00\xfe", 3);
    const Value result = echoed("@-", bytes);
    REQUIRE(result.find("bytes") != nullptr);
    CHECK(result.find("bytes")->as_string() == "/wD+");
    // What is printed reads back.
    CHECK(echoed(soma::to_json(result)) == result);
    CHECK(somatize({"run", "text.tokenize", "--in", soma::to_json(result)}).err.find("not bytes") != std::string::npos);
    CHECK(somatize({"run", "probe.echo", "--in", R"({"bytes": "a"})"}).exit == 2);
}

TEST_CASE("text on the command line that is not UTF-8 is a usage error") {
    CHECK(somatize({"run", "probe.echo", "--in", "\xff"}).exit == 2);
}

TEST_CASE("no input is none") {
    const Finished done = somatize({"run", "probe.echo", "--quiet"});
    CHECK(done.exit == 0);
    CHECK(done.out == "null\n");
}

TEST_CASE("a huge input goes through whole") {
    std::string text(32U << 20U, 'x');
    text += "the end";
    Launch launch;
    launch.args = {"run", "probe.echo", "--quiet", "--in", "@-"};
    launch.input = text;
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 0);
    CHECK(done.out == text + "\n");
}

TEST_CASE("text comes out as it is and everything else as JSON for people") {
    CHECK(printed("some text") == "some text\n");
    CHECK(printed("\"ends in one\\n\"") == "ends in one\n");
    CHECK(printed("[1, 2.5, null, \"x\"]") == "[1, 2.5, null, \"x\"]\n");
    CHECK(printed("{\"a\": [1, 2], \"b\": {}}") == "{\n  \"a\": [1, 2],\n  \"b\": {}\n}\n");
    CHECK(printed("[]") == "[]\n");
}

TEST_CASE("a list of like dicts comes out as a table") {
    CHECK(printed(R"([{"name": "GPL-2", "nearest": "GPL-1", "score": 0.98412}, {"name": "BSD", "nearest": null,
                      "score": 0.5}])") == "name   nearest   score\n"
                                           "GPL-2  GPL-1    0.9841\n"
                                           "BSD    -        0.5000\n");
    CHECK(printed(R"([{"n": 1, "x": 1e-9}, {"n": 200, "x": 2}])") == "  n      x\n"
                                                                     "  1  1e-09\n"
                                                                     "200      2\n");
    CHECK(printed(R"([{"name": "漢字", "b": 1}, {"name": "a", "b": 2}])") == "name  b\n"
                                                                             "漢字  1\n"
                                                                             "a     2\n");
    // Not alike: no table.
    CHECK(printed(R"([{"a": 1}, {"b": 2}])") == "[\n  {\"a\": 1},\n  {\"b\": 2}\n]\n");
}

TEST_CASE("cells of a table cannot drive the terminal") {
    const std::string out = printed(R"([{"name": "a\u001b[2Jb\nc\u009b"}])");
    CHECK(out == "name\na\\x1b[2Jb\\nc\\x9b\n");
}

TEST_CASE("a run ends with a table of node and device and time and result") {
    const Finished done = somatize({"run", "probe.echo >> probe.echo.named(\"b\").on(\"cpu\")", "--in", "[1, 2]"});
    CHECK(done.exit == 0);
    const auto blank = done.out.find("\n\n");
    REQUIRE(blank != std::string::npos);
    CHECK(done.out.substr(0, blank) == "[1, 2]");
    const std::string table = done.out.substr(blank + 2);
    CHECK(table.starts_with("node  device"));
    CHECK(has(table, "\necho  unplaced  "));
    CHECK(has(table, "\nb     cpu       "));
    CHECK(has(table, " ms  list of 2"));
}

TEST_CASE("a run as JSON has the result and a report a node") {
    const Finished done = somatize({"run", "probe.echo >> probe.echo.named(\"b\").on(\"cpu\")", "--in", "5", "--json"});
    const Value out = soma::parse_json(done.out);
    CHECK(*out.find("result") == Value(5));
    const Value& nodes = *out.find("nodes");
    REQUIRE(nodes.size() == 2);
    CHECK(nodes.at(0).find("node")->as_string() == "echo");
    CHECK(nodes.at(0).find("device")->is_none());
    CHECK(nodes.at(1).find("device")->as_string() == "cpu");
    CHECK(nodes.at(1).find("ran")->as_bool());
    CHECK(nodes.at(1).find("milliseconds")->as_float() > 0);
    CHECK(out.find("simulated") == nullptr);
}

TEST_CASE("a node that fails ends the program with 1 and is named with its cause") {
    const Finished done = somatize({"run", "probe.echo >> probe.fail(message=\"on fire\")", "--in", "x"});
    CHECK(done.exit == 1);
    CHECK(done.out.empty());
    CHECK(done.err.starts_with("somatize: error: node `fail` failed: "));
    CHECK(has(done.err, "on fire"));
}

TEST_CASE("a failed run as JSON says what failed and what had run") {
    const Finished done = somatize({"run", "probe.echo >> probe.fail(message=\"on fire\")", "--in", "x", "--json"});
    CHECK(done.exit == 1);
    const Value out = soma::parse_json(done.out);
    CHECK(out.find("result") == nullptr);
    REQUIRE(out.find("failures")->size() == 1);
    CHECK(has(std::string(out.find("failures")->at(0).as_string()), "on fire"));
    CHECK(out.find("nodes")->at(0).find("ran")->as_bool());
}

TEST_CASE("a run as JSON that fails before it starts says why") {
    for (const std::vector<std::string>& args : {std::vector<std::string>{"probe.ecoh"},
                                                 {"probe.echo >>"},
                                                 {"probe.echo", "--place", "x=cpu"},
                                                 {"probe.echo.on(\"hpu:7\")"}}) {
        std::vector<std::string> all{"run", "--json"};
        all.insert(all.end(), args.begin(), args.end());
        const Finished done = somatize(all);
        INFO(done.err);
        CHECK(done.exit != 0);
        const Value out = soma::parse_json(done.out);
        CHECK(out.find("result") == nullptr);
        CHECK(out.find("nodes")->size() == 0);
        REQUIRE(out.find("failures")->size() == 1);
        CHECK(done.err == "somatize: error: " + std::string(out.find("failures")->at(0).as_string()) + "\n");
    }
    CHECK(somatize({"run", "--json", "probe.echo", "--jobs", "0"}).out.empty());
}

TEST_CASE("a plugin that ends the program is an error") {
    Launch launch;
    launch.args = {"run", "lie.exit_in_forward", "--in",
                   "x",   "--plugins",           (soma::test::test_plugins("lies") / "lies.soma.so").string()};
    launch.environment = {{"SOMA_LIE", "exit_in_forward"}};
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 1);
    CHECK(done.out.empty());
    CHECK(has(done.err, "somatize: error: a plugin ended the program with `exit`"));
}

TEST_CASE("of several failures the first written comes first and the others follow") {
    const std::string graph = R"(probe.echo >> (probe.fail(message="no paper").named("one") |
                                 probe.fail(message="on fire").named("two")))";
    const Finished done = somatize({"run", graph, "--in", "x", "--jobs", "2"});
    CHECK(done.exit == 1);
    CHECK(done.err.starts_with("somatize: error: node `one` failed: "));
}

TEST_CASE("a deadline ends the run and names the node that was running") {
    const Finished done = somatize({"run", "probe.wait.named(\"slow\")", "--in", "x", "--timeout", "0.2"});
    CHECK(done.exit == 1);
    CHECK(done.wall.count() < 30);
    CHECK(has(done.err, "slow"));
    CHECK(done.out.empty());
}

TEST_CASE("a deadline that is not reached changes nothing") {
    const Finished done = somatize({"run", "probe.echo", "--in", "x", "--timeout", "60", "-q"});
    CHECK(done.exit == 0);
    CHECK(done.out == "x\n");
}

TEST_CASE("Ctrl-C cancels the run and ends the program with 130") {
    const TemporaryFolder folder;
    Launch launch;
    launch.args = {"run", wait_graph(folder.path() / "started"), "--in", "x"};
    launch.limit = std::chrono::seconds(30);
    Process process(launch);
    REQUIRE(appears(folder.path() / "started"));
    process.send(SIGINT);
    const Finished done = process.wait();
    CHECK_FALSE(done.timed_out);
    CHECK(done.exit == 130);
    CHECK(done.out.empty());
    CHECK(has(done.err, "somatize: error: "));
    CHECK(has(done.err, "slow"));
}

TEST_CASE("SIGTERM cancels the run and ends the program with 143") {
    const TemporaryFolder folder;
    Launch launch;
    launch.args = {"run", wait_graph(folder.path() / "started"), "--in", "x"};
    launch.limit = std::chrono::seconds(30);
    Process process(launch);
    REQUIRE(appears(folder.path() / "started"));
    process.send(SIGTERM);
    CHECK(process.wait().exit == 143);
}

TEST_CASE("a second Ctrl-C ends the program at once") {
    const TemporaryFolder folder;
    Launch launch;
    // Deaf to being cancelled for its ten minutes.
    launch.args = {"run", "probe.wait(deaf=true, touch=\"" + (folder.path() / "started").string() + "\")", "--in", "x"};
    launch.limit = std::chrono::seconds(30);
    Process process(launch);
    REQUIRE(appears(folder.path() / "started"));
    process.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    process.send(SIGINT);
    const Finished done = process.wait();
    CHECK_FALSE(done.timed_out);
    CHECK(done.signal == SIGINT);
    CHECK(has(done.err, "somatize: cancelling"));
}

TEST_CASE("a long run shows how far it is on a terminal and nowhere else") {
    Launch launch;
    launch.args = {"run", "probe.wait(seconds=0.7) >> probe.wait(seconds=0.2)", "--in", "x"};
    CHECK(soma::test::run(launch).err.empty());
    launch.err_terminal = true;
    const std::string err = soma::test::run(launch).err;
    CHECK(has(err, "1 of 2 nodes done, last `wait`"));
    CHECK(err.ends_with("\r\x1b[K"));
    launch.args.emplace_back("--quiet");
    CHECK(soma::test::run(launch).err.empty());
}

TEST_CASE("without a tensor in the graph no libtorch is loaded by a run") {
    Launch launch;
    launch.args = {"run", "probe.echo", "--in", "x"};
    launch.environment = {{"LD_DEBUG", "libs"}};
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 0);
    CHECK(has(done.err, "libsomatize.so"));
    CHECK_FALSE(has(done.err, "libtorch"));
}

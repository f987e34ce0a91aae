// SPDX-License-Identifier: Apache-2.0
// What the program says about a graph without running it.
#include <algorithm>
#include <vector>

#include "process.h"
#include "soma/json.h"
#include "soma/value.h"
#include "support/catch.h"

using soma::Value;
using soma::test::Finished;
using soma::test::Launch;
using soma::test::somatize;
using soma::test::TemporaryFolder;
using soma::test::write_file;

namespace fs = std::filesystem;

namespace {

const std::string seed_graph =
    R"(text.tokenize >> (nn.encoder.on("cuda:0") | nn.bag.named("other").on("cuda:1")) >> flow.join)";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Ends with 3, prints nothing, says `part`.
void invalid(const std::vector<std::string>& args, std::string_view part) {
    INFO(part);
    const Finished done = somatize(args);
    INFO(done.err);
    CHECK(done.exit == 3);
    CHECK(done.out.empty());
    CHECK(done.err.starts_with("somatize: error: "));
    CHECK(has(done.err, part));
}

Value json(const Finished& done) {
    INFO(done.err);
    REQUIRE(done.exit == 0);
    return soma::parse_json(done.out);
}

} // namespace

TEST_CASE("devices shows each node and where it is to run") {
    const Finished done = somatize({"devices", seed_graph});
    CHECK(done.exit == 0);
    CHECK(done.err.empty());
    CHECK(done.out == "tokenize  unplaced\n"
                      "encoder   cuda:0\n"
                      "other     cuda:1\n"
                      "join      unplaced\n");
}

TEST_CASE("devices as JSON has null for what is unplaced") {
    const Value devices = json(somatize({"devices", seed_graph, "--json"}));
    CHECK(devices == soma::parse_json(R"({"devices": {"tokenize": null, "encoder": "cuda:0", "other": "cuda:1",
                                          "join": null}})"));
}

TEST_CASE("under simulation devices says which are simulated") {
    const Finished done = somatize({"devices", seed_graph, "--simulate", "cuda:1"});
    CHECK(done.exit == 0);
    CHECK(done.out == "simulated devices: cuda:0\n\n"
                      "tokenize  unplaced\n"
                      "encoder   cuda:0 (simulated)\n"
                      "other     cuda:1\n"
                      "join      unplaced\n");
}

TEST_CASE("every command about a graph says simulated when devices are") {
    for (const std::string command : {"plan", "devices", "draw", "check"}) {
        CHECK(has(somatize({command, seed_graph, "--simulate", "cuda:2"}).out, "simulated"));
        const Finished done = somatize({command, seed_graph, "--simulate", "cuda:2", "--json"});
        if (command == "draw") { // its JSON is the graph alone
            CHECK(done.err == "somatize: simulated devices: cuda:0, cuda:1\n");
            CHECK(done.out == somatize({command, seed_graph, "--json"}).out);
            continue;
        }
        const Value out = json(done);
        REQUIRE(out.find("simulated") != nullptr);
        CHECK(*out.find("simulated") == Value::list({"cuda:0", "cuda:1"}));
    }
}

TEST_CASE("a check that finds fault says simulated when devices are") {
    const Finished done = somatize({"check", "text.tokenize(case=1)", "--simulate", "cuda:1"});
    CHECK(done.exit == 3);
    CHECK(done.err.ends_with("somatize: simulated devices: cuda:0\n"));
}

TEST_CASE("the command line places by id and replaces what the graph says") {
    const Finished done =
        somatize({"devices", seed_graph, "--place", "encoder=cpu", "--place=join=meta", "--place", "join=cpu"});
    CHECK(done.out == "tokenize  unplaced\n"
                      "encoder   cpu\n"
                      "other     cuda:1\n"
                      "join      cpu\n");
}

TEST_CASE("a placement is read from a file and the command line goes over it") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "placement.json").string();
    write_file(file, R"({"encoder": "cpu", "join": "cpu"})");
    const Finished done = somatize({"devices", seed_graph, "--placement", file, "--place", "join=meta"});
    CHECK(done.out == "tokenize  unplaced\n"
                      "encoder   cpu\n"
                      "other     cuda:1\n"
                      "join      meta\n");
}

TEST_CASE("what devices prints as JSON can be given back as a placement") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "placement.json").string();
    const std::string placed = somatize({"devices", seed_graph, "--json"}).out;
    write_file(file, placed);
    const std::string bare = "text.tokenize >> (nn.encoder | nn.bag.named(\"other\")) >> flow.join";
    CHECK(somatize({"devices", bare, "--json", "--placement", file}).out == placed);
}

TEST_CASE("a placement that is not valid ends with 3 and says where it came from") {
    invalid({"devices", seed_graph, "--place", "encodr=cpu"}, "--place encodr=cpu: ");
    invalid({"devices", seed_graph, "--place", "encodr=cpu"}, "did you mean `encoder`?");
    invalid({"devices", seed_graph, "--place", "encoder=cude:0"}, "did you mean `cuda");
    invalid({"run", seed_graph, "--place", "encoder=cuda"}, "--place encoder=cuda: ");
    invalid({"check", seed_graph, "--place", "encoder="}, "--place encoder=: ");

    const TemporaryFolder folder;
    const std::string file = (folder.path() / "placement.json").string();
    write_file(file, R"({"encodr": "cpu"})");
    invalid({"devices", seed_graph, "--placement", file}, file + ": ");
    invalid({"devices", seed_graph, "--placement", file}, "did you mean `encoder`?");
    write_file(file, R"({"encoder": "cuda:128"})");
    invalid({"devices", seed_graph, "--placement", file}, "encoder");
    write_file(file, R"({"devices": {"encoder": "cuda:x"}})");
    invalid({"devices", seed_graph, "--placement", file}, file + ": ");
    write_file(file, R"({"devices": {"encoder": 1}})");
    invalid({"devices", seed_graph, "--placement", file}, file + ": ");
    write_file(file, "cpu");
    invalid({"devices", seed_graph, "--placement", file}, file + ": ");
    invalid({"devices", seed_graph, "--placement", (folder.path() / "placment.json").string()},
            "did you mean `placement.json`?");
}

TEST_CASE("plan shows sequences and waves and never a device") {
    const Finished done = somatize({"plan", seed_graph});
    CHECK(done.exit == 0);
    for (const char* word : {"sequence", "wave", "tokenize", "encoder", "other", "join"}) CHECK(has(done.out, word));
    CHECK_FALSE(has(done.out, "cuda"));
    CHECK(somatize({"plan", seed_graph, "--place", "other=cpu"}).out == done.out);
    const Value plan = json(somatize({"plan", seed_graph, "--json"}));
    CHECK(*plan.find("plan") ==
          soma::parse_json(R"({"sequence": ["tokenize", {"wave": ["encoder", "other"]}, "join"]})"));
    CHECK(*plan.find("width") == Value(2));
}

TEST_CASE("draw writes Graphviz text with the devices") {
    const Finished done = somatize({"draw", seed_graph});
    CHECK(done.exit == 0);
    CHECK(has(done.out, "digraph"));
    CHECK(has(done.out, "cuda:0"));
    CHECK(has(done.out, "->"));
}

TEST_CASE("what draw prints as JSON is a graph that the program reads") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "graph.json").string();
    const Finished drawn = somatize({"draw", seed_graph, "--json"});
    REQUIRE(drawn.exit == 0);
    write_file(file, drawn.out);
    CHECK(somatize({"plan", file}).out == somatize({"plan", seed_graph}).out);
    CHECK(somatize({"draw", file, "--json"}).out == drawn.out);
    CHECK(*soma::parse_json(drawn.out).find("nodes")->at(0).find("version") == Value(1));
    write_file(file, R"({"nodes": [{"id": "a"}]})");
    invalid({"plan", file}, file + ": ");
}

TEST_CASE("a graph made for a newer version of a node type is refused before anything runs") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "graph.json").string();
    write_file(file, R"({"nodes": [{"id": "a", "type": "probe.echo", "version": 1},
                                   {"id": "b", "type": "probe.echo", "version": 7}], "edges": [["a", "b"]]})");
    const std::string why =
        "node `b` wants version 7 of `probe.echo`, but plugin `probe` gives version 1: update the plugin";
    invalid({"check", file}, why);
    invalid({"run", file, "--in", "x"}, why);
    write_file(file, R"({"nodes": [{"id": "a", "type": "probe.echo", "version": 1}], "edges": []})");
    CHECK(somatize({"check", file}).exit == 0);
}

TEST_CASE("a graph with a cycle is refused and the cycle is shown") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "graph.json").string();
    write_file(file, R"({"nodes": [{"id": "a", "type": "probe.echo"}, {"id": "b", "type": "probe.echo"}],
                         "edges": [["a", "b"], ["b", "a"]]})");
    invalid({"plan", file}, "cycle");
    invalid({"check", file}, "cycle");
    invalid({"run", file, "--in", "x"}, "cycle");
}

TEST_CASE("a graph is read from a file or from the command line alike") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "graph.soma").string();
    write_file(file, "# a comment\nfirst = probe.echo\nfirst >> probe.echo.on(\"cpu\")\n");
    const Finished done = somatize({"devices", file});
    CHECK(done.exit == 0);
    CHECK(has(done.out, "first"));
    CHECK(has(done.out, "cpu"));
}

TEST_CASE("a graph file without the ending is read all the same") {
    const TemporaryFolder folder;
    write_file(folder.path() / "graph", "probe.echo.named(\"found\")");
    Launch launch;
    launch.args = {"devices", "graph"};
    launch.folder = folder.path();
    CHECK(soma::test::run(launch).out == "found  unplaced\n");
}

TEST_CASE("a missing graph file offers the nearest name in its folder") {
    const TemporaryFolder folder;
    write_file(folder.path() / "licence.soma", "probe.echo");
    const std::string missing = (folder.path() / "license.soma").string();
    const Finished done = somatize({"run", missing});
    CHECK(done.exit == 3);
    CHECK(done.err == "somatize: error: there is no file `" + missing + "` (did you mean `licence.soma`?)\n");
    invalid({"plan", (folder.path() / "licence").string()}, "/licence.soma`?)");
    invalid({"plan", "/nowhere/licence.soma"}, "nor is there a folder `/nowhere`");
}

TEST_CASE("a folder in place of a graph is refused by name") {
    const TemporaryFolder folder;
    invalid({"plan", folder.path().string()}, "is a folder");
}

TEST_CASE("an empty graph is refused") {
    for (const std::string command : {"run", "plan", "devices", "draw", "check"}) {
        invalid({command, ""}, "");
        invalid({command, "# only a comment"}, "");
    }
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "empty.soma").string();
    write_file(file, "");
    invalid({"run", file}, "empty.soma");
}

TEST_CASE("a mistake in the grammar is shown with its line and a caret") {
    invalid({"check", "probe.echo >> >> probe.echo"}, "^");
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "graph.soma").string();
    write_file(file, "first = probe.echo\nfirst >> (probe.echo | probe.echo\n");
    invalid({"check", file}, "graph.soma");
    invalid({"check", file}, "^");
}

TEST_CASE("an unknown type is shown in its line and the nearest is offered") {
    for (const std::string command : {"run", "plan", "devices", "draw"}) {
        invalid({command, "probe.echo >> probe.wiat"}, "did you mean `probe.wait`?");
        invalid({command, "probe.echo >> probe.wiat"}, "^");
    }
}

TEST_CASE("a wrong configuration is refused before anything runs") {
    for (const std::string command : {"run", "plan", "devices", "draw", "check"}) {
        invalid({command, "probe.wait(secnds=1)"}, "did you mean `seconds`?");
        invalid({command, "probe.wait(seconds=\"long\")"}, "seconds");
        invalid({command, "probe.wait(seconds=601)"}, "seconds");
        invalid({command, "probe.fail"}, "message");
        invalid({command, "probe.fail(message=\"hungry\")"}, "on fire");
    }
}

TEST_CASE("check lists everything that is wrong at once") {
    const Finished done = somatize({"check", "probe.echo >> probe.wiat >> probe.wait(secnds=1) >> probe.fail"});
    CHECK(done.exit == 3);
    CHECK(std::count(done.err.begin(), done.err.end(), '\n') >= 3);
    CHECK(has(done.err, "probe.wiat"));
    CHECK(has(done.err, "secnds"));
    CHECK(has(done.err, "message"));

    const Finished machine = somatize({"check", "--json", "probe.wiat >> probe.wait(secnds=1) >> probe.fail"});
    CHECK(machine.exit == 3);
    const Value out = soma::parse_json(machine.out);
    CHECK(*out.find("ok") == Value(false));
    CHECK(out.find("problems")->size() == 3);
}

TEST_CASE("check says that a graph is right and how much of it is placed") {
    const Finished done = somatize({"check", seed_graph});
    CHECK(done.exit == 0);
    CHECK(done.out == "ok: 4 nodes, 2 placed\n");
    const Value out = json(somatize({"check", "--json", seed_graph}));
    CHECK(out == soma::parse_json(R"({"ok": true, "nodes": 4, "placed": 2, "problems": []})"));
}

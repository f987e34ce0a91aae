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
            CHECK(done.err.starts_with("somatize: simulated devices: cuda:0, cuda:1\n"));
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

TEST_CASE("what draw prints as JSON leaves devices out and says so") {
    const Finished placed = somatize({"draw", seed_graph, "--json"});
    CHECK(placed.err == "somatize: warning: 2 nodes are placed, which a graph's JSON does not say; `somatize devices "
                        "--json` prints what `--placement` reads back\n");
    CHECK_FALSE(has(placed.out, "cuda"));
    CHECK(somatize({"draw", "probe.echo", "--json"}).err.empty());
}

TEST_CASE("the versions of node types are written with a graph") {
    const Value graph = json(somatize({"draw", "probe.echo >> probe.wait", "--json"}));
    CHECK(*graph.find("nodes")->at(0).find("version") == Value(1));
    CHECK(*graph.find("nodes")->at(1).find("version") == Value(3));
}

TEST_CASE("a plan prints as JSON however deep it is") {
    std::string graph = "probe.echo";
    for (int i = 0; i < 400; ++i) graph = "probe.echo >> (probe.echo | " + graph + ")";
    const Finished done = somatize({"plan", graph, "--json"});
    CHECK(done.exit == 0);
    CHECK(done.err.empty());
    CHECK(done.out.starts_with("{\n  \"plan\": {\n    \"sequence\": [\n      \"echo\",\n"));
    CHECK(has(done.out, "\n  },\n  \"width\": "));
    const auto count = [&done](char c) { return std::count(done.out.begin(), done.out.end(), c); };
    CHECK(count('[') == count(']'));
    CHECK(count('"') > 2 * 801);
    // Half as deep, so that it is read too.
    std::string half = "probe.echo";
    for (int i = 0; i < 200; ++i) half = "probe.echo >> (probe.echo | " + half + ")";
    CHECK(json(somatize({"plan", half, "--json"})).find("width")->as_int() == 201);
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
    invalid({"devices", file}, why);
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

TEST_CASE("check lists every wrong field of a node and every wrong placement at once") {
    const Finished done = somatize({"check", "nn.bag(dim=0, unit=\"x\", ngram=-1, zz=1) >> nn.relu >> nn.reul",
                                    "--place", "bg=cpu", "--place", "relu=cude:0", "--place", "rel=cpu"});
    CHECK(done.exit == 3);
    CHECK(done.out.empty());
    for (const char* part : {"`zz`", "`dim` of `nn.bag`: expected at least 1", "`unit` of `nn.bag`: ",
                             "`ngram` of `nn.bag`: ", "--place bg=cpu: ", "--place relu=cude:0: ", "--place rel=cpu: ",
                             "unknown node type `nn.reul` (did you mean `nn.relu`?)"}) {
        INFO(part);
        CHECK(has(done.err, part));
    }
    CHECK(soma::parse_json(somatize({"check", "--json", "nn.bag(dim=0, ngram=-1)", "--place", "b=cpu"}).out)
              .find("problems")
              ->size() == 3);
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "placement.json").string();
    write_file(file, R"({"bog": "cpu", "bag": "cuda:x", "bug": 1})");
    const Finished placed = somatize({"check", "nn.bag", "--placement", file});
    for (const char* part : {": `bog`: ", ": `bag`: ", ": `bug`: "}) CHECK(has(placed.err, file + part));
}

TEST_CASE("check goes on after what is wrong with a name or a device in the text") {
    const Finished done =
        somatize({"check", "a = nn.bag.on(\"cude:0\")\nb = nn.relu\nnn.encoder.named(\"1\") >> nn.bga >> a >> c"});
    CHECK(done.exit == 3);
    for (const char* part :
         {"1:15: unknown device kind `cude`", "2:1: `b` is bound and never used", "3:18: `1` cannot be a node's id",
          "3:26: unknown node type `nn.bga`", "3:41: unknown name `c`"}) {
        INFO(part);
        CHECK(has(done.err, part));
    }
}

TEST_CASE("what is wrong with a node is shown in its line") {
    const auto shown = [](const std::string& text, const std::string& expected) {
        for (const std::string command : {"check", "run", "plan", "devices", "draw"}) {
            INFO(command);
            const Finished done = somatize({command, text});
            CHECK(done.exit == 3);
            CHECK(done.err == "somatize: error: " + expected + "\n");
        }
    };
    shown("text.tokenise >> nn.bag", "1:1: unknown node type `text.tokenise` (did you mean `text.tokenize`?)\n"
                                     "text.tokenise >> nn.bag\n"
                                     "^");
    shown("text.tokenize >>\n  nn.bag(dim=0)", "2:3: node `bag`: `dim` of `nn.bag`: expected at least 1, got int 0\n"
                                               "  nn.bag(dim=0)\n"
                                               "  ^");
    shown("x = flow.identity\nx >> x", "2:3: node `x` is wired to itself\nx >> x\n  ^");
    shown("a = flow.identity\nb = flow.identity\n(a >> b) | (b >> a)",
          "1:5: the graph has a cycle: a -> b -> a\na = flow.identity\n    ^");
    shown("x = flow.identity\ny = flow.identity\n(x >> y) | (x >> y)",
          "3:15: `x` is wired to `y` twice; a node reads another's result once\n(x >> y) | (x >> y)\n              ^");
}

TEST_CASE("a run says how many more faults there are before it shows the line") {
    CHECK(
        somatize({"run", "nn.bag(dim=0, ngram=0)"}).err ==
        "somatize: error: 1:1: node `bag`: `dim` of `nn.bag`: expected at least 1, got int 0 (`somatize check` lists 1 "
        "more)\nnn.bag(dim=0, ngram=0)\n^\n");
}

TEST_CASE("check as JSON lists what keeps the graph from being read") {
    const auto problems = [](std::vector<std::string> more, int exit) {
        more.insert(more.begin(), {"check", "--json"});
        const Finished done = somatize(more);
        INFO(done.err);
        CHECK(done.exit == exit);
        const Value out = soma::parse_json(done.out);
        CHECK(*out.find("ok") == Value(false));
        REQUIRE(out.find("problems")->size() > 0);
        return std::string(out.find("problems")->at(0).as_string());
    };
    CHECK(has(problems({"probe.echo >>"}, 3), "1:12: nothing follows `>>`"));
    CHECK(has(problems({"x = probe.echo.on(\"cude:0\") >>"}, 3), "1:19: unknown device kind `cude`"));
    CHECK(has(problems({"probe.echo.on (\"cpu\")"}, 3), "1:11: `.on` is written without a space before its `(`"));
    CHECK(has(problems({"probe.echo", "--place", "ecoh=cpu"}, 3), "--place ecoh=cpu: "));
    CHECK(has(problems({"/nowhere/graph.soma"}, 3), "there is no file `/nowhere/graph.soma`"));
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "notes.soma.so").string();
    write_file(file, "this is text\n");
    CHECK(has(problems({"probe.echo", "--plugins", file}, 4), "notes.soma.so"));
}

TEST_CASE("a number that no int holds is too large and not of another kind") {
    invalid({"check", "nn.bag(dim=99999999999999999999)"},
            "`dim` of `nn.bag`: 1e+20 is too large: an int is at most 9223372036854775807");
    invalid({"check", "nn.bag(seed=-99999999999999999999)"},
            "`seed` of `nn.bag`: -1e+20 is too small: an int is at least -9223372036854775808");
}

TEST_CASE("an ending that is nearly a graph's offers the file that is there") {
    const TemporaryFolder folder;
    write_file(folder.path() / "licence.soma", "probe.echo");
    write_file(folder.path() / "g.json", R"({"nodes": [], "edges": []})");
    const auto said = [&](const std::string& argument) {
        Launch launch;
        launch.args = {"check", argument};
        launch.folder = folder.path();
        return soma::test::run(launch).err;
    };
    CHECK(said("licence.som") == "somatize: error: there is no file `licence.som` (did you mean `licence.soma`?)\n");
    CHECK(said("g.jsn") == "somatize: error: there is no file `g.jsn` (did you mean `g.json`?)\n");
    CHECK(has(said("flow.some"), "unknown node type `flow.some`"));
}

TEST_CASE("the ending of a graph file may be in capitals") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "G.JSON").string();
    write_file(file, somatize({"draw", "probe.echo", "--json"}).out);
    CHECK(somatize({"devices", file}).out == "echo  unplaced\n");
    invalid({"check", "NOT_HERE.SOMA"}, "there is no file `NOT_HERE.SOMA`");
}

TEST_CASE("a device that never ends is not read as a graph or as an input") {
    invalid({"check", "/dev/zero"}, "`/dev/zero` is a device, not a file");
    invalid({"check", "probe.echo", "--placement", "/dev/zero"}, "`/dev/zero` is a device, not a file");
    for (const char* how : {"--json", "--lines", "--each"}) {
        const Finished done = somatize({"run", "probe.echo", "--in", "@/dev/zero", how});
        CHECK(done.exit == 2);
        CHECK(has(done.err, "--in @/dev/zero: `/dev/zero` is a device, not a file"));
    }
    CHECK(somatize({"run", "probe.echo", "-q", "--in", "@/dev/null"}).out == "\n");
}

TEST_CASE("what is on the command line cannot drive the terminal in an error") {
    const Finished done = somatize({"devices", "nn.bag", "--place", "x\x1b[31m=cpu"});
    CHECK(done.exit == 3);
    CHECK_FALSE(has(done.err, "\x1b"));
    CHECK(has(done.err, "--place x\\x1b[31m=cpu: "));
    CHECK_FALSE(has(somatize({"nodes", "\x1b[31m"}).err, "\x1b"));
}

TEST_CASE("check says that a graph is right and how much of it is placed") {
    const Finished done = somatize({"check", seed_graph});
    CHECK(done.exit == 0);
    CHECK(done.out == "ok: 4 nodes, 2 placed\n");
    const Value out = json(somatize({"check", "--json", seed_graph}));
    CHECK(out == soma::parse_json(R"({"ok": true, "nodes": 4, "placed": 2, "problems": []})"));
}

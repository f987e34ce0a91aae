// SPDX-License-Identifier: Apache-2.0
// Plugins as the program's user meets them: listed, inspected, missing, refused.
#include <algorithm>

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

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Without the tests' own plugins on the path.
Finished without_probe(std::vector<std::string> args) {
    Launch launch;
    launch.args = std::move(args);
    launch.environment = {{"SOMATIZE_PLUGIN_PATH", ""}};
    return soma::test::run(launch);
}

/// The tests' plugin, cut in half: it still mentions the types that it would give.
void write_broken_probe(const fs::path& file) {
    std::string bytes = soma::test::read_file(soma::test::probe_plugins() / "cliprobe.soma.so");
    // Another machine's code: refused by its header, with all the rest in place.
    REQUIRE(bytes.size() > 64);
    bytes[18] = static_cast<char>(0xf3);
    write_file(file, bytes);
}

} // namespace

TEST_CASE("nodes lists types with what they do") {
    const Finished done = somatize({"nodes", "probe"});
    CHECK(done.exit == 0);
    CHECK(done.err.empty());
    CHECK(done.out == "probe.echo  Gives back what it got.\n"
                      "probe.fail  Fails.\n"
                      "probe.wait  Takes its time.\n");
}

TEST_CASE("nodes takes a pattern") {
    CHECK(somatize({"nodes", "*.wait"}).out == "probe.wait  Takes its time.\n");
    CHECK(somatize({"nodes", "probe.????"}).out == somatize({"nodes", "probe"}).out);
}

TEST_CASE("nodes knows the shipped types") {
    const std::string out = without_probe({"nodes"}).out;
    for (const char* type : {"text.read", "text.tokenize", "nn.bag", "nn.linear", "nn.embedding", "nn.encoder",
                             "nn.relu", "nn.similarity", "flow.join", "flow.identity", "flow.to", "index.nearest"}) {
        INFO(type);
        CHECK((out.starts_with(type) || has(out, "\n" + std::string(type) + " ")));
    }
}

TEST_CASE("nodes as JSON says version and plugin of each") {
    const Finished done = somatize({"nodes", "probe.wait", "--json"});
    const Value list = soma::parse_json(done.out);
    REQUIRE(list.size() == 1);
    CHECK(list.at(0).find("name")->as_string() == "probe.wait");
    CHECK(list.at(0).find("version")->as_int() == 3);
    CHECK(list.at(0).find("plugin")->as_string() == "probe");
}

TEST_CASE("nodes with a pattern that nothing matches offers the nearest") {
    const Finished done = somatize({"nodes", "probe.ehco"});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "no node type matches `probe.ehco` (did you mean `probe.echo`?)"));
}

TEST_CASE("inspect shows a node type one fact a line") {
    const Finished done = somatize({"inspect", "probe.wait"});
    CHECK(done.exit == 0);
    CHECK(done.out ==
          "Node type\n"
          "  Name     probe.wait\n"
          "  About    Takes its time.\n"
          "           Then it gives back what it got.\n"
          "  Version  3\n"
          "  Flags    re-entrant\n"
          "  Plugin   probe 1.2.3\n"
          "  File     " +
              fs::canonical(soma::test::probe_plugins() / "cliprobe.soma.so").string() +
              "\n\n"
              "Configuration\n"
              "  seconds  float, 60.0 by default, from 0 to 600  how long to wait\n"
              "  touch    string, \"\" by default                  a file to make when the waiting begins\n"
              "  deaf     bool, false by default                 goes on waiting when the run is cancelled\n"
              "\n"
              "Input\n"
              "  x  any  anything\n");
}

TEST_CASE("inspect shows choices and what is required") {
    const Finished done = somatize({"inspect", "probe.fail"});
    CHECK(has(done.out, "message  string, required, one of \"no paper\" \"on fire\"  what to fail with\n"));
}

TEST_CASE("inspect shows a plugin by its name and by its file") {
    const Finished named = somatize({"inspect", "probe"});
    CHECK(named.exit == 0);
    for (const char* part : {"Plugin\n", "Nodes for the tests of the program.", "1.2.3", "the project", "Apache-2.0",
                             "probe.echo  Gives back what it got.\n"}) {
        INFO(part);
        CHECK(has(named.out, part));
    }
    const std::string file = (soma::test::probe_plugins() / "cliprobe.soma.so").string();
    CHECK(somatize({"inspect", file}).out == named.out);
    CHECK(somatize({"inspect", "cliprobe.soma.so"}).out == named.out);
}

TEST_CASE("inspect as JSON says the same of types and plugins") {
    const Value type = soma::parse_json(somatize({"inspect", "probe.fail", "--json"}).out);
    CHECK(type.find("node")->as_string() == "probe.fail");
    const Value& field = type.find("config")->at(0);
    CHECK(field.find("required")->as_bool());
    CHECK(*field.find("choices") == Value::list({"no paper", "on fire"}));
    const Value plugin = soma::parse_json(somatize({"inspect", "probe", "--json"}).out);
    CHECK(plugin.find("version")->as_string() == "1.2.3");
    CHECK(plugin.find("types")->size() == 3);
    const Value echo = soma::parse_json(somatize({"inspect", "probe.echo", "--json"}).out);
    CHECK(*echo.find("example") == Value::list({1, 2}));
}

TEST_CASE("inspect of an unknown name offers the nearest") {
    const Finished done = somatize({"inspect", "probe.ehco"});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "there is no plugin and no node type `probe.ehco` (did you mean `probe.echo`?)"));
}

TEST_CASE("a plugin is named by its folder or by its file") {
    const std::string file = (soma::test::probe_plugins() / "cliprobe.soma.so").string();
    for (const std::string& where : std::vector<std::string>{soma::test::probe_plugins().string(), file}) {
        const Finished done = without_probe({"run", "probe.echo", "--in", "7", "--quiet", "--plugins", where});
        CHECK(done.exit == 0);
        CHECK(done.out == "7\n");
    }
}

TEST_CASE("the current folder is never searched for plugins") {
    Launch launch;
    launch.args = {"nodes", "probe.echo"};
    launch.environment = {{"SOMATIZE_PLUGIN_PATH", ""}};
    launch.folder = soma::test::probe_plugins();
    CHECK(soma::test::run(launch).exit == 2);
}

TEST_CASE("a refused plugin that nobody needs is one line of warning") {
    const TemporaryFolder folder;
    write_file(folder.path() / "notes.soma.so", "this is text\n");
    const Finished done = somatize({"devices", "probe.echo", "--plugins", folder.path().string()});
    CHECK(done.exit == 0);
    CHECK(done.out == "echo  unplaced\n");
    CHECK(done.err.starts_with("somatize: warning: "));
    CHECK(has(done.err, "notes.soma.so"));
    CHECK(std::count(done.err.begin(), done.err.end(), '\n') == 1);
    CHECK(somatize({"run", "probe.echo", "--in", "1", "-q", "--plugins", folder.path().string()}).err.empty());
}

TEST_CASE("a refused plugin that the graph needs ends the program with 4 and the reason") {
    const TemporaryFolder folder;
    write_broken_probe(folder.path() / "cliprobe.soma.so");
    for (const std::string command : {"run", "plan", "devices", "draw", "check"}) {
        const Finished done = without_probe({command, "probe.echo", "--plugins", folder.path().string()});
        INFO(done.err);
        CHECK(done.exit == 4);
        CHECK(done.out.empty());
        const auto error = done.err.find("somatize: error: ");
        REQUIRE(error != std::string::npos);
        CHECK(has(done.err.substr(error), "probe.echo"));
        CHECK(has(done.err.substr(error), "cliprobe.soma.so"));
        CHECK(has(done.err.substr(error), "machine"));
    }
}

TEST_CASE("a refused plugin is told also where a type of it is inspected") {
    const TemporaryFolder folder;
    write_broken_probe(folder.path() / "cliprobe.soma.so");
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"inspect", "probe.echo"}, {"inspect", "cliprobe"}, {"devices", "probe.echo"}}) {
        std::vector<std::string> all = args;
        all.insert(all.end(), {"--plugins", folder.path().string()});
        const Finished done = without_probe(all);
        INFO(done.err);
        CHECK(done.exit == 4);
        // Once: not as a warning too.
        CHECK(std::count(done.err.begin(), done.err.end(), '\n') <= (all[0] == "devices" ? 3 : 1));
        CHECK_FALSE(has(done.err, "warning"));
    }
}

TEST_CASE("warnings heed the level of the log") {
    const TemporaryFolder folder;
    write_file(folder.path() / "notes.soma.so", "this is text\n");
    const auto said = [&](const char* level) {
        Launch launch;
        launch.args = {"nodes", "flow.to", "--plugins", folder.path().string()};
        launch.environment = {{"SOMATIZE_LOG", level}};
        return soma::test::run(launch).err;
    };
    CHECK(has(said("warning"), "notes.soma.so"));
    CHECK(said("error").empty());
    CHECK(said("off").empty());
    CHECK(has(said("zzz"), "SOMATIZE_LOG is none of `debug`, `info`, `warning`, `error` and `off`"));
    CHECK(has(said("zzz"), "notes.soma.so"));
}

TEST_CASE("inspect as JSON gives the bounds of an int as ints") {
    const std::string out = somatize({"inspect", "nn.bag", "--json"}).out;
    CHECK(has(out, "\"minimum\": 1,"));
    CHECK_FALSE(has(out, "\"minimum\": 1.0"));
}

TEST_CASE("a plugin file that was named and is refused ends the program with 4") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "notes.soma.so").string();
    write_file(file, "this is text\n");
    for (const std::vector<std::string>& args : {std::vector<std::string>{"nodes", "--plugins", file},
                                                 {"devices", "probe.echo", "--plugins", file},
                                                 {"inspect", file}}) {
        const Finished done = somatize(args);
        CHECK(done.exit == 4);
        CHECK(done.out.empty());
        CHECK(has(done.err, "notes.soma.so"));
    }
}

TEST_CASE("a misspelt plugin file offers the nearest") {
    const Finished done = somatize({"nodes", "--plugins", (soma::test::probe_plugins() / "cliprob.soma.so").string()});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "did you mean `cliprobe.soma.so`?"));
}

TEST_CASE("folders of the environment that are not there are left out in silence") {
    Launch launch;
    launch.args = {"nodes", "text.read"};
    launch.environment = {{"SOMATIZE_PLUGIN_PATH", "/nowhere:/nowhere/else"}, {"HOME", "/nowhere"}};
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 0);
    CHECK(done.err.empty());
}

TEST_CASE("without any plugin folder the program says where it looked") {
    // An installed tree may lie anywhere; this one has no plugins.
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "bin");
    fs::create_directories(folder.path() / "lib");
    fs::copy_file(soma::test::program(), folder.path() / "bin" / "somatize");
    const fs::path libraries = soma::test::program().parent_path().parent_path() / "lib";
    for (const auto& entry : fs::directory_iterator(libraries)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libsomatize.so"))
            fs::copy(entry.path(), folder.path() / "lib" / name, fs::copy_options::copy_symlinks);
    }
    Launch launch;
    launch.program = folder.path() / "bin" / "somatize";
    launch.environment = {{"SOMATIZE_PLUGIN_PATH", ""}, {"LD_LIBRARY_PATH", (folder.path() / "lib").string()}};
    launch.args = {"nodes"};
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 0);
    CHECK(done.out.empty());
    CHECK(has(done.err, "there are no plugins in"));
    launch.args = {"devices", "probe.echo"};
    CHECK(soma::test::run(launch).exit == 3);
}

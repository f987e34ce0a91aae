// SPDX-License-Identifier: Apache-2.0
// What the program says of the machine it runs on, which only the tensor engine knows.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "process.h"
#include "support/catch.h"

using soma::test::Finished;
using soma::test::Launch;
using soma::test::somatize;
using soma::test::TemporaryFolder;

namespace {

const std::string seed_graph =
    R"(text.tokenize >> (nn.encoder.on("cuda:0") | nn.bag.named("other").on("cuda:1")) >> flow.join)";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("check looks at this machine only when asked to") {
    const std::string graph = "probe.echo.on(\"hpu:5\")";
    CHECK(somatize({"check", graph}).exit == 0);
    const Finished missing = somatize({"check", "--here", graph});
    CHECK(missing.exit == 3);
    CHECK(missing.out.empty());
    CHECK(has(missing.err, "1 node is placed on a device that is not here: `echo` on `hpu:5`."));
    CHECK(missing.err.ends_with(" Place it elsewhere\n"));
    const Finished done = somatize({"check", "--here", "probe.echo.on(\"cpu\")"});
    CHECK(done.out == "ok: 1 node, 1 placed, every device is here\n");
}

TEST_CASE("a device that is not there is refused before any node runs") {
    const TemporaryFolder folder;
    const auto touch = folder.path() / "started";
    const Finished done = somatize({"run",
                                    "probe.wait(seconds=0, touch=\"" + touch.string() +
                                        "\") >> probe.echo.on(\"hpu:3\") >> probe.echo.named(\"last\").on(\"xpu:9\")",
                                    "--in", "x"});
    CHECK(done.exit == 3);
    CHECK(has(done.err, "`echo`"));
    CHECK(has(done.err, "`last`"));
    CHECK(done.err.ends_with(" Place them elsewhere; nothing was run\n"));
    CHECK_FALSE(std::filesystem::exists(touch));
}

TEST_CASE("the seed graph on a machine without CUDA fails before any node runs and names both nodes") {
    Launch launch;
    launch.args = {"run", seed_graph, "--in", "some text"};
    const Finished done = soma::test::run(launch);
    if (done.exit == 0) soma_skip("this machine has two CUDA devices");
    CHECK(done.exit == 3);
    CHECK(done.out.empty());
    CHECK(done.err.starts_with("somatize: error: "));
    CHECK(has(done.err, "cuda:1"));
    CHECK(has(done.err, "`other`"));
    if (has(done.err, "cuda:0")) CHECK(has(done.err, "`encoder`"));
}

TEST_CASE("a tensor goes in and comes out short for people and whole for programs") {
    const std::string tensor = R"({"tensor": [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5]],
                                   "dtype": "float32"})";
    const Finished shown = somatize({"run", "probe.echo", "--quiet", "--in", tensor});
    INFO(shown.err);
    CHECK(shown.exit == 0);
    CHECK(shown.out == "{\"tensor\": [[1, 2, 3, …, 8, 9, 10], [0, 0, 0, …, 0, 0, 0.5]], \"dtype\": \"float32\", "
                       "\"shape\": [2, 10], \"device\": \"cpu\"}\n");
    const Finished whole = somatize({"run", "probe.echo", "--json", "--in", tensor});
    CHECK(has(whole.out, "0.5"));
    CHECK_FALSE(has(whole.out, "…"));
    CHECK(somatize({"run", "probe.echo", "--in", whole.out}).exit == 0);
}

TEST_CASE("a malformed tensor in the input is a usage error") {
    const Finished done = somatize({"run", "probe.echo", "--in", R"({"tensor": [[1], [2, 3]]})"});
    CHECK(done.exit == 2);
    CHECK(done.err.starts_with("somatize: error: --in: "));
}

TEST_CASE("a number that a tensor's dtype does not hold is refused") {
    const auto said = [](const std::string& tensor) {
        const Finished done = somatize({"run", "probe.echo", "-q", "--in", tensor});
        CHECK(done.exit == (done.out.empty() ? 2 : 0));
        return done.out + done.err.substr(0, done.err.find('\n'));
    };
    CHECK(said(R"({"tensor": [1, 1e39]})") == "somatize: error: --in: `[1]` is 1e+39, which does not fit float32");
    CHECK(said(R"({"tensor": [70000], "dtype": "float16"})") ==
          "somatize: error: --in: `[0]` is 70000, which does not fit float16");
    CHECK(said(R"({"tensor": [-4e38], "dtype": "bfloat16"})") ==
          "somatize: error: --in: `[0]` is -4e+38, which does not fit bfloat16");
    CHECK(said(R"({"tensor": [3.4028235e38, -1e-50]})").starts_with("{\"tensor\": [3.40282e+38, "));
    CHECK(said(R"({"tensor": [1e39], "dtype": "float64"})").starts_with("{\"tensor\": [1e+39]"));
}

TEST_CASE("a tensor of the input on a device that is not here is a usage error") {
    const auto said = [](const std::string& device) {
        const Finished done =
            somatize({"run", "probe.echo", "--in", R"({"tensor": [1], "device": ")" + device + "\"}"});
        CHECK(done.exit == 2);
        CHECK(done.out.empty());
        return done.err.substr(0, done.err.find('\n'));
    };
    const std::string missing = said("hpu:3");
    CHECK(missing.starts_with("somatize: error: --in: a tensor is to be on `hpu:3`, which is not here: "));
    CHECK(missing.size() < 200);
    CHECK(said("cude:0").starts_with("somatize: error: --in: unknown device kind `cude` in `cude:0`"));
}

TEST_CASE("a tensor of the input on a device beyond those simulated is a usage error (simulated)") {
    const Finished done =
        somatize({"run", "probe.echo", "--simulate", "cuda:2", "--in", R"({"tensor": [1], "device": "cuda:5"})"});
    if (has(done.err, "cannot simulate")) soma_skip("libtorch has real CUDA here");
    CHECK(done.exit == 2);
    CHECK(done.err.starts_with(
        "somatize: error: --in: a tensor is to be on `cuda:5`, which is not here: this machine has 2 "
        "simulated `cuda` devices, `cuda:0` to `cuda:1`\n"));
}

TEST_CASE("the seed graph runs on two devices that this machine has not (simulated)") {
    const Finished done = somatize({"run", seed_graph, "--in", "some text", "--simulate", "cuda:2", "--seed", "1"});
    if (has(done.err, "cannot simulate")) soma_skip("libtorch has real CUDA here");
    INFO(done.err);
    CHECK(done.exit == 0);
    CHECK(has(done.out, "simulated devices: cuda:0, cuda:1\nnode"));
    CHECK(has(done.out, "encoder   cuda:0 (simulated)"));
    CHECK(has(done.out, "other     cuda:1 (simulated)"));
    CHECK(has(done.out, "on cuda:0"));
    CHECK(has(done.out, "on cuda:1"));
}

TEST_CASE("every way to print a run says simulated (simulated)") {
    const std::string good = R"(nn.relu.on("cuda:0"))";
    const std::string bad = R"(flow.to.on("cuda:0") >> flow.identity.named("lies").on("cuda:1"))";
    const auto run = [](const std::string& graph, std::vector<std::string> more) {
        more.insert(more.begin(), {"run", graph, "--in", R"({"tensor": [1.0, -2.0]})", "--simulate", "cuda:2"});
        return somatize(more);
    };
    const Finished first = run(good, {});
    if (has(first.err, "cannot simulate")) soma_skip("libtorch has real CUDA here");
    const std::string note = "simulated devices: cuda:0, cuda:1\n";
    CHECK(has(first.out, note));
    CHECK(has(run(good, {"--json"}).out, "\"simulated\""));
    const Finished quiet = run(good, {"--quiet"});
    CHECK(quiet.out.starts_with("{\"tensor\": [1, 0], \"dtype\": \"float32\""));
    CHECK(quiet.err == "somatize: " + note);
    const Finished failed = run(bad, {});
    CHECK(failed.exit == 1);
    CHECK(has(failed.err, "node `lies` failed: it declared `cuda:1` but returned a value on `cuda:0`"));
    CHECK(has(failed.err, note));
    CHECK(has(run(bad, {"--json"}).out, "\"simulated\""));
    const auto each = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", good, "--in", R"([{"tensor": [1.0]}, {"tensor": [2.0]}])", "--simulate",
                                   "cuda:2", "--each"});
        return somatize(more);
    };
    for (const Finished& done : {each({}), each({"--quiet"})}) {
        CHECK(std::count(done.out.begin(), done.out.end(), '\n') == 2); // a line an item and no other
        CHECK(done.err == "somatize: " + note);
    }
    CHECK(has(each({"--json"}).out, "\"simulated\""));
}

TEST_CASE("a node on a device that is not simulated is refused (simulated)") {
    const Finished done = somatize({"run", seed_graph, "--in", "some text", "--simulate", "cuda:1"});
    if (has(done.err, "cannot simulate")) soma_skip("libtorch has real CUDA here");
    CHECK(done.exit == 3);
    CHECK(has(done.err, "`other`"));
    CHECK_FALSE(has(done.err, "`encoder`"));
    CHECK(has(done.err, "this machine has 1 simulated `cuda` device, `cuda:0`"));
}

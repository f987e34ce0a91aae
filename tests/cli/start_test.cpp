// SPDX-License-Identifier: Apache-2.0
// What needs no tensor answers at once: libtorch stays out of the process.
#include <algorithm>
#include <chrono>

#include "process.h"
#include "support/catch.h"

using soma::test::Finished;
using soma::test::Launch;

namespace {

const std::string seed_graph =
    R"(text.tokenize >> (nn.encoder.on("cuda:0") | nn.bag.named("other").on("cuda:1")) >> flow.join)";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("no command but run and check of a machine loads libtorch") {
    for (const std::vector<std::string>& args : {std::vector<std::string>{"--version"},
                                                 {"--help"},
                                                 {"devices", seed_graph},
                                                 {"plan", seed_graph},
                                                 {"draw", seed_graph},
                                                 {"check", seed_graph},
                                                 {"nodes"},
                                                 {"inspect", "nn.encoder"},
                                                 {"inspect", "nn"},
                                                 {"devices", seed_graph, "--simulate", "cuda:2"}}) {
        Launch launch;
        launch.args = args;
        launch.environment = {{"LD_DEBUG", "libs"}};
        const Finished done = soma::test::run(launch);
        INFO(args.front());
        CHECK(done.exit == 0);
        CHECK(has(done.err, "libsomatize.so"));
        CHECK_FALSE(has(done.err, "libtorch"));
        CHECK_FALSE(has(done.err, "libc10"));
        CHECK_FALSE(has(done.err, "libsomatize-torch"));
    }
}

TEST_CASE("devices of the seed graph answers within 50 ms") {
    Launch launch;
    launch.args = {"devices", seed_graph};
    std::chrono::duration<double> best = std::chrono::hours(1);
    // The best of many: other work on the machine is no fault of the program.
    for (int i = 0; i < 20; ++i) {
        const Finished done = soma::test::run(launch);
        REQUIRE(done.exit == 0);
        best = std::min(best, done.wall);
    }
    CHECK(best.count() < 0.050);
}

// SPDX-License-Identifier: Apache-2.0
// The shipped plugins on several devices, all of them in this machine's memory.
#include "run.h"
#include "soma/error.h"
#include "soma/machine.h"
#include "support/catch.h"
#include "support/simulated.h"

using namespace soma;
using namespace soma::test;

namespace {

Value json(std::string_view text) { return tensors_from_json(parse_json(text)); }

const char* const tensor = R"({"tensor": [[1.0, 2.0], [3.0, 4.0]]})";

} // namespace

TEST_CASE("every shipped nn node obeys its placement and gives what it gives on the cpu (simulated)") {
    two_gpus();
    const std::vector<std::pair<std::string, Value>> nodes{
        {"nn.bag(dim=8)", list_of({"to", "be"})},
        {"nn.encoder(out=8)", list_of({"to", "be"})},
        {"nn.linear(in=2, out=3)", json(tensor)},
        {"nn.embedding(count=9, dim=3)", parse_json("[[1, 2], [3, 4]]")},
        {"nn.relu", json(tensor)},
        {"nn.similarity", json(tensor)},
    };
    for (const auto& [wire, input] : nodes) {
        CAPTURE(wire);
        const Value here = run(wire, input);
        const Value there = run(wire + ".on(\"cuda:1\")", input);
        CHECK(holds(summary(there), "on cuda:1"));
        const auto expected = numbers(here);
        const auto got = numbers(there);
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-6));
    }
}

TEST_CASE("parameters move with their node and back (simulated)") {
    two_gpus();
    Pipeline pipeline = somatize("nn.encoder(dim=4, out=2, buckets=8)", catalog());
    const auto before = numbers(pipeline.run("to be"));
    for (const std::string device : {"cuda:0", "cuda:1", "cpu"}) {
        pipeline.place("encoder", device);
        const Value result = pipeline.run("to be");
        CHECK(holds(summary(result), "on " + device));
        for (const State& state : pipeline.parameters()) CHECK(holds(summary(state.value), "on " + device));
        const auto now = numbers(result);
        for (std::size_t i = 0; i < now.size(); ++i) CHECK(now[i] == Approx(before[i]).margin(1e-6));
    }
}

TEST_CASE("an unplaced node goes to where its input is (simulated)") {
    two_gpus();
    const Value result = run(R"(flow.to.on("cuda:1") >> nn.linear(in=2, out=3) >> nn.relu)", json(tensor));
    CHECK(summary(result) == "tensor float32[2, 3] on cuda:1");
}

TEST_CASE("an input on another device than the node is brought to it (simulated)") {
    two_gpus();
    CHECK(summary(run(R"(flow.to.on("cuda:0") >> nn.linear(in=2, out=3).on("cuda:1"))", json(tensor))) ==
          "tensor float32[2, 3] on cuda:1");
}

TEST_CASE("flow.join of two devices needs a place and then moves what it joins (simulated)") {
    two_gpus();
    const std::string wave = R"((flow.to.on("cuda:0") | flow.to.on("cuda:1")) >> flow.join(mode="concat"))";
    CHECK(failure(wave, json(tensor)) ==
          "node `join` failed: cannot concat tensors on `cuda:0` and `cuda:1`: place it, for example with "
          "`.on(\"cuda:0\")`, and it moves them there");
    CHECK(summary(run(wave + ".on(\"cuda:1\")", json(tensor))) == "tensor float32[2, 4] on cuda:1");
    const Value list = run(R"((flow.to.on("cuda:0") | flow.to.on("cuda:1")) >> flow.join)", json(tensor));
    CHECK(summary(list.at(0)) == "tensor float32[2, 2] on cuda:0");
    CHECK(summary(list.at(1)) == "tensor float32[2, 2] on cuda:1");
}

TEST_CASE("a generator of the context gives numbers on the node's device (simulated)") {
    two_gpus();
    CHECK(summary(run("sample.noise.on(\"cuda:1\")")) == "tensor float32[4] on cuda:1");
    CHECK(numbers(run("sample.noise.on(\"cuda:1\")")) == numbers(run("sample.noise.on(\"cuda:1\")")));
}

TEST_CASE("index.nearest searches among vectors on a device (simulated)") {
    two_gpus();
    const Value input = parse_json(R"([["a", "b", "c"], [[1, 0], [2, 0.1], [0, 1]]])");
    CHECK(run("index.nearest.on(\"cuda:0\")", input) == run("index.nearest", input));
}

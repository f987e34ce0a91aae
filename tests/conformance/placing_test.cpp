// SPDX-License-Identifier: Apache-2.0
#include "conformance/helpers.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;
using Devices = std::map<std::string, std::string>;

namespace {

Value device_of(const Value& report) { return get(report, "device"); }

} // namespace

TEST_CASE("each branch of a wave in its own place and what is unplaced stays unplaced (meta)") {
    need_engine();
    auto p = pipeline(node("probe.where").named("first") >>
                      (node("probe.where").named("a").on("cpu") | node("probe.where").named("b").on("meta") |
                       node("probe.where").named("c")));
    CHECK(p.devices() == Devices{{"a", "cpu"}, {"b", "meta"}});
    CHECK_FALSE(p.placement().of("c").has_value());
    const Value result = p.run(1);
    CHECK(device_of(result.at(0)) == Value("cpu"));
    CHECK(device_of(result.at(1)) == Value("meta"));
    CHECK(device_of(result.at(2)).is_none());
    CHECK(device_of(get(result.at(2), "input")).is_none());
}

TEST_CASE("the node sees its own device and only its own (meta)") {
    need_engine();
    auto p = pipeline(R"(probe.where.named("a").on("cpu") >> probe.where.named("b").on("meta") >>
                         probe.where.named("c"))");
    const Value c = p.run(1);
    const Value b = get(c, "input");
    const Value a = get(b, "input");
    CHECK(get(a, "text") == Value("Ctx(node=a, device=cpu)"));
    CHECK(get(b, "text") == Value("Ctx(node=b, device=meta)"));
    CHECK(get(c, "text") == Value("Ctx(node=c, device=none)"));
    CHECK(get(a, "kind") == Value(SOMA_DEVICE_CPU));
    CHECK(get(b, "kind") == Value(SOMA_DEVICE_META));
    CHECK(get(c, "kind") == Value(SOMA_DEVICE_NONE));
}

TEST_CASE("the branches of a wave see different devices whatever the number of jobs (meta)") {
    need_engine();
    for (const std::size_t jobs : {1U, 2U, 4U}) {
        auto p = pipeline(node("probe.where").on("cpu") | node("probe.where").on("meta"), jobs);
        for (int run = 0; run < 50; ++run) {
            const Value result = p.run(run);
            REQUIRE(device_of(result.at(0)) == Value("cpu"));
            REQUIRE(device_of(result.at(1)) == Value("meta"));
        }
    }
}

TEST_CASE("the device of the context arrives at the plugin and shows in its text form") {
    const Value report = pipeline(node("probe.where").named("encoder").on("cpu")).run(1);
    CHECK(device_of(report) == Value("cpu"));
    CHECK(get(report, "kind") == Value(SOMA_DEVICE_CPU));
    CHECK(get(report, "index") == Value(0));
    CHECK(get(report, "stream") == Value(0));
    CHECK(get(report, "text") == Value("Ctx(node=encoder, device=cpu)"));
}

TEST_CASE("an unplaced node finds no device in its context") {
    const Value report = pipeline(node("probe.where").named("encoder")).run(1);
    CHECK(device_of(report).is_none());
    CHECK(get(report, "kind") == Value(SOMA_DEVICE_NONE));
    CHECK(get(report, "text") == Value("Ctx(node=encoder, device=none)"));
}

TEST_CASE("placing changes neither the plan nor the graph nor what it produces") {
    const char* text = R"(probe.add >> (probe.add.named("a") >> (probe.add | probe.add) | probe.add) >> probe.pass)";
    auto free = pipeline(text);
    auto placed = pipeline(text);
    for (const std::string& id : placed.nodes()) placed.place(id, "cpu");
    CHECK(placed.plan() == free.plan());
    CHECK(placed.graph() == free.graph());
    CHECK(placed.graph().to_json() == free.graph().to_json());
    CHECK(placed.run(5) == free.run(5));
    CHECK(placed.devices().size() == placed.nodes().size());
}

TEST_CASE("on and place give the same placement") {
    const Wire a = node("probe.where").named("a");
    const Wire b = node("probe.where").named("b");
    auto wired = pipeline((a.on("cpu") >> b).on("meta"));
    auto placed = pipeline(a >> b);
    placed.place("a", "cpu");
    placed.place("b", Device(DeviceKind::meta));
    CHECK(placed.placement() == wired.placement());
    CHECK(placed.devices() == wired.devices());
}

TEST_CASE("placing afterwards in a loop over the nodes") {
    auto p = pipeline("probe.where >> (probe.where | probe.where) >> probe.pass");
    for (const std::string& id : p.nodes()) {
        if (id.starts_with("where")) p.place(id, visible_devices(DeviceKind::cpu).front());
    }
    CHECK(p.devices() == Devices{{"where", "cpu"}, {"where_2", "cpu"}, {"where_3", "cpu"}});
    const Value result = p.run(1);
    CHECK(device_of(result.at(0)) == Value("cpu"));
    CHECK(device_of(result.at(1)) == Value("cpu"));
}

TEST_CASE("placing again replaces what was there (meta)") {
    need_engine();
    auto p = pipeline(node("probe.where").named("a").on("cpu"));
    CHECK(device_of(p.run(1)) == Value("cpu"));
    p.place("a", "meta");
    CHECK(p.devices() == Devices{{"a", "meta"}});
    CHECK(device_of(p.run(1)) == Value("meta"));
    p.unplace("a");
    CHECK(p.devices().empty());
    CHECK(device_of(p.run(1)).is_none());
    p.place("a", "cpu");
    CHECK(device_of(p.run(1)) == Value("cpu"));
}

TEST_CASE("a node is told when it is placed elsewhere and not when nothing changed (meta)") {
    need_engine();
    auto p = pipeline(node("probe.told").named("a").on("cpu") >> node("probe.where").named("b"));
    const auto told = [&] { return texts(get(get(p.run(1), "input"), "told")); };
    CHECK(told() == std::vector<std::string>{"cpu"});
    p.place("a", "cpu");
    p.place("b", "cpu");
    CHECK(told() == std::vector<std::string>{"cpu"});
    p.unplace("a");
    CHECK(told() == std::vector<std::string>{"cpu", "none"});
    p.place("a", "meta"); // a fresh instance runs there
    CHECK(told() == std::vector<std::string>{"meta"});
    p.place("a", "cpu"); // and the first one is back
    CHECK(told() == std::vector<std::string>{"cpu", "none", "cpu"});
}

TEST_CASE("placing an unknown id fails and offers the nearest") {
    auto p = pipeline(node("probe.where").named("encoder") >> node("probe.where").named("other"));
    CHECK(error_of<PlacementError>([&] { p.place("encodr", "cpu"); }) ==
          "no node `encodr` to be placed (did you mean `encoder`?)");
    CHECK(error_of<PlacementError>([&] { p.place("zzzzzzzz", "cpu"); }) == "no node `zzzzzzzz` to be placed");
    CHECK(error_of<PlacementError>([&] { p.unplace("othr"); }) ==
          "no node `othr` to be placed (did you mean `other`?)");
    CHECK(p.devices().empty());
}

TEST_CASE("a placement that speaks of an unknown id is refused when the pipeline is made") {
    Graph graph;
    graph.add("probe.where", {}, "encoder");
    Placement placement;
    placement.place("encodr", Device(DeviceKind::cpu));
    CHECK(error_of<PlacementError>([&] { pipeline(graph, 1, placement); }) ==
          "no node `encodr` to be placed (did you mean `encoder`?)");
}

TEST_CASE("placing on what is no device fails and leaves the placement as it was") {
    auto p = pipeline(node("probe.where").named("encoder").on("cpu"));
    CHECK(error_of<DeviceError>([&] { p.place("encoder", "cude:0"); }) != "no error");
    CHECK(error_of<DeviceError>([&] { p.place("encoder", "cuda"); }) != "no error");
    CHECK(p.devices() == Devices{{"encoder", "cpu"}});
    CHECK(device_of(p.run(1)) == Value("cpu"));
}

TEST_CASE("the postcondition names the node whose opaque value says that it is elsewhere") {
    auto p = pipeline(node("probe.claim", {{"at", "cuda:0"}}).named("encoder").on("cpu"));
    try {
        p.run(1);
        FAIL("it was not noticed");
    } catch (const NodeError& error) {
        CHECK(std::string(error.what()) == "node `encoder` failed: it declared `cpu` but returned a value on `cuda:0`");
        CHECK(error.node() == "encoder");
        CHECK(error.plugin() == "probe");
    }
    CHECK(p.failures() ==
          std::vector<std::string>{"node `encoder` failed: it declared `cpu` but returned a value on `cuda:0`"});
}

TEST_CASE("the postcondition tells cuda 0 from cuda 1 and cpu from meta (meta)") {
    need_engine();
    auto p = pipeline(node("probe.claim", {{"at", "cpu"}}).named("encoder").on("meta"));
    CHECK(error_of<NodeError>([&] { p.run(1); }) ==
          "node `encoder` failed: it declared `meta` but returned a value on `cpu`");
    auto q = pipeline(node("probe.claim", {{"at", "meta"}}).named("encoder").on("cpu"));
    CHECK(error_of<NodeError>([&] { q.run(1); }) ==
          "node `encoder` failed: it declared `cpu` but returned a value on `meta`");
}

TEST_CASE("the postcondition names the leaf in lists and dicts") {
    auto p = pipeline(node("probe.nested", {{"at", "cuda:3"}}).named("encoder").on("cpu"));
    CHECK(error_of<NodeError>([&] { p.run(1); }) ==
          "node `encoder` failed: it declared `cpu` but returned a value on `cuda:3` (at `[1].mask`)");
}

TEST_CASE("an opaque value that obeys passes the postcondition") {
    CHECK(pipeline(node("probe.claim").on("cpu")).run(1).opaque_type() == "probe.claim/1");
    CHECK(pipeline(node("probe.nested", {{"at", "cpu"}}).on("cpu")).run(1).size() == 3);
}

TEST_CASE("a value that lives nowhere in particular or cannot say where is not checked") {
    CHECK(pipeline(node("probe.claim", {{"at", "nowhere"}}).on("cpu")).run(1).opaque_type() == "probe.claim/1");
    CHECK(pipeline(node("probe.claim", {{"at", "mute"}}).on("cpu")).run(1).opaque_type() == "probe.mute/1");
    CHECK(pipeline(node("probe.nested", {{"at", "nowhere"}}).on("cpu")).run(1).size() == 3);
    const Value plain = parse_json(R"([1, "text", {"a": null, "b": [true, 2.5]}, []])");
    CHECK(pipeline(node("probe.constant", {{"value", plain}}).on("cpu")).run(1) == plain);
}

TEST_CASE("an opaque value that fails to say where it is fails its node") {
    auto p = pipeline(node("probe.claim", {{"at", "lost"}}).named("encoder").on("cpu"));
    const std::string error = error_of<NodeError>([&] { p.run(1); });
    CHECK(error.starts_with("node `encoder` failed: "));
    CHECK(error.find("it does not know where it is") != std::string::npos);
    CHECK(error.ends_with("(plugin `probe`)"));
}

TEST_CASE("an unplaced node is held to nothing") {
    CHECK(pipeline(node("probe.claim", {{"at", "cuda:0"}})).run(1).opaque_type() == "probe.claim/1");
}

TEST_CASE("every node whose device is not there is listed before the first one runs") {
    auto p = pipeline(node("probe.trace").named("first") >>
                      (node("probe.trace").named("encoder").on("cuda:126") |
                       node("probe.trace").named("other").on("cuda:127") | node("probe.trace").on("cpu")));
    need_engine();
    const std::string error = error_of<PlacementError>([&] { p.run(1); });
    CHECK(error.starts_with("2 nodes are placed on devices that are not here: `encoder` on `cuda:126`, `other` on "
                            "`cuda:127`. "));
    CHECK(error.ends_with(" Place them elsewhere; nothing was run"));
    const std::size_t here = visible_devices(DeviceKind::cuda).size();
    if (here == 0) {
        const bool says_why = error.find("was built without `cuda`") != std::string::npos ||
                              error.find("this machine has no `cuda` device") != std::string::npos;
        CHECK(says_why);
    } else {
        CHECK(error.find("this machine has " + std::to_string(here) + " `cuda` device") != std::string::npos);
    }
    CHECK(diary().empty());

    p.place("encoder", "cpu");
    CHECK(error_of<PlacementError>([&] {
              p.run(1);
          }).starts_with("1 node is placed on a device that is not here: `other` on `cuda:127`. "));
    p.place("other", "cpu");
    p.run(1);
    CHECK(diary().size() == 4);
}

TEST_CASE("what is placed on cpu alone needs no tensor engine") {
    CHECK(visible_devices(DeviceKind::cpu) == std::vector<Device>{Device(DeviceKind::cpu)});
    Placement placement;
    placement.place("a", Device(DeviceKind::cpu));
    CHECK_NOTHROW(preflight(placement));
}

TEST_CASE("a report tells of every node where it ran and what it gave") {
    auto p = pipeline(node("probe.add").named("a").on("cpu") >> node("probe.sleep").named("b") >>
                      node("probe.fail").named("c") >> node("probe.add").named("d"));
    std::vector<NodeReport> report;
    RunOptions options;
    options.report = &report;
    CHECK_THROWS_AS(p.run(1, options), NodeError);
    REQUIRE(report.size() == 4);
    CHECK(report[0].node == "a");
    CHECK(report[0].device == Device(DeviceKind::cpu));
    CHECK(report[0].result == "2");
    CHECK(report[1].node == "b");
    CHECK_FALSE(report[1].device.has_value());
    CHECK(report[1].time >= std::chrono::milliseconds(5));
    CHECK(report[2].ran);
    CHECK(report[2].result.empty());
    CHECK(report[3].node == "d");
    CHECK_FALSE(report[3].ran);
}

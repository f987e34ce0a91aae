// SPDX-License-Identifier: Apache-2.0
#include "run.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

const char* const two = R"([{"tensor": [[1.0, 2.0]]}, {"tensor": [[3.0, 4.0]]}])";

} // namespace

TEST_CASE("flow.identity returns its input itself") {
    for (const Value& value : {Value{}, Value{5}, Value{"text"}, list_of({"a", "b"})}) {
        CHECK(run("flow.identity", value).handle() == value.handle());
    }
    const Value tensor = tensors_from_json(parse_json(R"({"tensor": [1.0]})"));
    CHECK(run("flow.identity", tensor).handle() == tensor.handle());
}

TEST_CASE("a pipeline's graph says for which versions of its types it was made") {
    const Pipeline made = somatize("flow.identity >> flow.to", catalog());
    for (const Node& node : made.graph().nodes()) CHECK(node.type_version == 1);
    CHECK(holds(made.graph().to_json(), R"("type": "flow.to", "version": 1)"));
}

TEST_CASE("flow.identity placed elsewhere is held to its claim (meta)") {
    CHECK(failure_json(R"(flow.identity.on("meta"))", R"({"tensor": [1.0]})") ==
          "node `identity` failed: it declared `meta` but returned a value on `cpu`");
}

TEST_CASE("flow.to moves every tensor to where it is placed (meta)") {
    CHECK(summary(run(R"(flow.to.on("meta"))", tensors_from_json(parse_json(R"({"tensor": [[1.0, 2.0]]})")))) ==
          "tensor float32[1, 2] on meta");
    const Value nested =
        run(R"(flow.to.on("meta"))", tensors_from_json(parse_json(R"(["a", {"b": {"tensor": [1.0]}}])")));
    CHECK(nested.at(0).as_string() == "a");
    CHECK(summary(*nested.at(1).find("b")) == "tensor float32[1] on meta");
}

TEST_CASE("flow.to unplaced returns its input itself") {
    const Value tensor = tensors_from_json(parse_json(R"({"tensor": [1.0]})"));
    CHECK(run("flow.to", tensor).handle() == tensor.handle());
}

TEST_CASE("flow.join makes a list unless told otherwise") {
    const Value list = run("(flow.identity | text.tokenize) >> flow.join", "a b");
    REQUIRE(list.size() == 2);
    CHECK(list.at(0).as_string() == "a b");
    CHECK(strings(list.at(1)) == std::vector<std::string>{"a", "b"});
    const Value single = run("flow.join", "alone");
    REQUIRE(single.kind() == Kind::list);
    REQUIRE(single.size() == 1);
    CHECK(single.at(0).as_string() == "alone");
}

TEST_CASE("flow.join concatenates and stacks and adds tensors") {
    CHECK(numbers(run("flow.join(mode=\"concat\")", tensors_from_json(parse_json(two)))) ==
          std::vector<double>{1, 2, 3, 4});
    CHECK(summary(run("flow.join(mode=\"concat\")", tensors_from_json(parse_json(two)))) ==
          "tensor float32[1, 4] on cpu");
    CHECK(summary(run("flow.join(mode=\"concat\", dim=0)", tensors_from_json(parse_json(two)))) ==
          "tensor float32[2, 2] on cpu");
    CHECK(summary(run("flow.join(mode=\"stack\")", tensors_from_json(parse_json(two)))) ==
          "tensor float32[2, 1, 2] on cpu");
    CHECK(summary(run("flow.join(mode=\"stack\", dim=-1)", tensors_from_json(parse_json(two)))) ==
          "tensor float32[1, 2, 2] on cpu");
    CHECK(numbers(run("flow.join(mode=\"sum\")", tensors_from_json(parse_json(two)))) == std::vector<double>{4, 6});
    CHECK(numbers(run("flow.join(mode=\"sum\")", tensors_from_json(parse_json(R"({"tensor": [7.0]})")))) ==
          std::vector<double>{7});
}

TEST_CASE("flow.join names the devices and the mend when tensors lie on several (meta)") {
    for (const std::string mode : {"concat", "stack", "sum"}) {
        const std::string wire = R"((flow.identity | flow.to.on("meta")) >> flow.join(mode=")" + mode + R"("))";
        CHECK(failure_json(wire, R"({"tensor": [[1.0, 2.0]]})") ==
              "node `join` failed: cannot " + mode +
                  " tensors on `cpu` and `meta`: place it, for example with `.on(\"cpu\")`, and it moves them there");
    }
}

TEST_CASE("flow.join placed moves what it joins to its device (meta)") {
    const Value input = tensors_from_json(parse_json(R"({"tensor": [[1.0, 2.0]]})"));
    CHECK(summary(run(R"((flow.identity | flow.to.on("meta")) >> flow.join(mode="concat").on("meta"))", input)) ==
          "tensor float32[1, 4] on meta");
    const Value list = run(R"((flow.identity | flow.to.on("meta")) >> flow.join.on("meta"))", input);
    CHECK(summary(list.at(0)) == "tensor float32[1, 2] on meta");
}

TEST_CASE("flow.join says what it cannot join") {
    CHECK(failure("flow.join(mode=\"concat\")", "text") ==
          "node `join` failed: cannot concat a string: it joins tensors");
    CHECK(failure_json("flow.join(mode=\"sum\")", R"([{"tensor": [1.0]}, "b"])") ==
          "node `join` failed: cannot sum a string (at `[1]`): it joins tensors; mode `list` takes anything");
    CHECK(failure_json("flow.join(mode=\"stack\")", "[]") == "node `join` failed: cannot stack an empty list");
    CHECK(holds(failure_json("flow.join(dim=1)", two),
                "`dim` says nothing to the mode `list`, only to concat and stack"));
    CHECK(holds(failure_json("flow.join(mode=\"cancat\")", two), "concat"));
}

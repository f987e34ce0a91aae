// SPDX-License-Identifier: Apache-2.0
#include "soma/placement.h"

#include <string>
#include <string_view>

#include "soma/error.h"
#include "support/catch.h"

using soma::Device;
using soma::Placement;

namespace {

std::string error_of(std::string_view json) {
    try {
        static_cast<void>(Placement::from_json(json));
    } catch (const soma::PlacementError& error) {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("a node that is not placed is on no device and not on cpu") {
    const Placement placement;
    CHECK(placement.empty());
    CHECK_FALSE(placement.of("encoder"));
}

TEST_CASE("placing again replaces and unplacing forgets") {
    Placement placement;
    placement.place("encoder", Device::parse("cuda:0"));
    placement.place("encoder", Device::parse("cpu"));
    CHECK(placement.of("encoder") == Device::parse("cpu"));
    CHECK(placement.size() == 1);
    placement.unplace("encoder");
    placement.unplace("never placed");
    CHECK(placement.empty());
}

TEST_CASE("a placement compares and merges and the other one wins") {
    Placement a, b;
    a.place("x", Device::parse("cuda:0"));
    a.place("y", Device::parse("cuda:1"));
    b.place("y", Device::parse("cpu"));
    b.place("z", Device::parse("meta"));
    CHECK(a != b);
    a.merge(b);
    CHECK(a.to_json() == R"({"x": "cuda:0", "y": "cpu", "z": "meta"})");
    Placement same;
    same.place("z", Device::parse("meta"));
    same.place("x", Device::parse("cuda:0"));
    same.place("y", Device::parse("cpu"));
    CHECK(a == same);
}

TEST_CASE("a placement travels as JSON and comes back the same") {
    Placement placement;
    placement.place("encoder", Device::parse("cuda:0"));
    placement.place("other", Device::parse("mps"));
    CHECK(Placement::from_json(placement.to_json()) == placement);
    CHECK(Placement::from_json("{}") == Placement());
}

TEST_CASE("a placement that is malformed names the node and what is wrong") {
    CHECK(error_of(R"({"a": "cpu", "encoder": "cuda"})") ==
          "the placement of `encoder` is wrong: `cuda` needs an index: write `cuda:0` for the first one");
    CHECK(error_of(R"({"encoder": 0})") == "the placement of `encoder` is of kind int, not a text such as \"cuda:0\"");
    CHECK(error_of(R"(["encoder"])") == "the placement cannot be read: it is of kind list, but a placement is an "
                                        "object such as {\"encoder\": \"cuda:0\"}");
    CHECK(error_of(R"({"encoder")").find("the placement cannot be read: JSON is not valid at 1:") == 0);
    CHECK(error_of(R"({"a": "cpu", "a": "meta"})").find("key `a` is given twice") != std::string::npos);
}

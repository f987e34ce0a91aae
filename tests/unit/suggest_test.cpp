// SPDX-License-Identifier: Apache-2.0
#include "soma/suggest.h"

#include <string>
#include <vector>

#include "support/catch.h"

using soma::nearest;

namespace {

const std::vector<std::string> types{"nn.linear", "nn.bag", "nn.relu", "text.tokenize", "flow.join"};

} // namespace

TEST_CASE("the nearest name is offered for a slip of the finger") {
    CHECK(nearest("nn.linera", types) == "nn.linear"); // a swap of neighbours is one edit
    CHECK(nearest("nn.bga", types) == "nn.bag");
    CHECK(nearest("text.tokenise", types) == "text.tokenize");
    CHECK(nearest("flow.jion", types) == "flow.join");
    CHECK(nearest("linear", types) == "nn.linear"); // its last part
    CHECK(nearest("nn.bag", types) == "nn.bag");
}

TEST_CASE("a name that is nowhere near gets no offer") {
    CHECK_FALSE(nearest("quantise", types));
    CHECK_FALSE(nearest("", types));
    CHECK_FALSE(nearest("x", std::vector<std::string>{"y"}));
    CHECK_FALSE(nearest("nn.bag", std::vector<std::string>{}));
    CHECK_FALSE(nearest(std::string(1'000'000, 'x'), types));
}

TEST_CASE("a difference of case counts half and ties go to the first") {
    CHECK(nearest("Encoder", std::vector<std::string>{"encoders", "encoder"}) == "encoder");
    CHECK(nearest("bat", std::vector<std::string>{"bag", "bad"}) == "bag");
}

TEST_CASE("the offer is ready to be put in a message") {
    CHECK(soma::did_you_mean("nn.bog", types) == " (did you mean `nn.bag`?)");
    CHECK(soma::did_you_mean("quantise", types).empty());
}

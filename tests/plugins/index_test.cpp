// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "run.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

const char* const four =
    R"({"names": ["east", "north", "almost east", "west"],
        "vectors": {"tensor": [[1.0, 0.0], [0.0, 2.0], [3.0, 0.3], [-1.0, 0.0]]}})";

} // namespace

TEST_CASE("index.nearest finds for each name the nearest other and its cosine") {
    const Value found = run("index.nearest", tensors_from_json(parse_json(four)));
    REQUIRE(found.size() == 4);
    CHECK(found.at(0).find("name")->as_string() == "east");
    CHECK(found.at(0).find("nearest")->as_string() == "almost east");
    CHECK(found.at(0).find("score")->as_float() == Approx(3 / std::sqrt(9.09)));
    CHECK(found.at(1).find("nearest")->as_string() == "almost east");
    CHECK(found.at(2).find("nearest")->as_string() == "east");
    CHECK(found.at(3).find("nearest")->as_string() == "north");
    CHECK(found.at(3).find("score")->as_float() == Approx(0).margin(1e-12));
}

TEST_CASE("index.nearest gives k records for each name with the nearest first") {
    const Value found = run("index.nearest(k=2)", tensors_from_json(parse_json(four)));
    REQUIRE(found.size() == 8);
    CHECK(found.at(0).find("nearest")->as_string() == "almost east");
    CHECK(found.at(1).find("name")->as_string() == "east");
    CHECK(found.at(1).find("nearest")->as_string() == "north");
    CHECK(run("index.nearest(k=100)", tensors_from_json(parse_json(four))).size() == 12);
}

TEST_CASE("index.nearest takes names and vectors as a list of the two and plain numbers as vectors") {
    CHECK(run_json("index.nearest", R"([["a", "b"], [[1, 0], [2, 0]]])") ==
          run_json("index.nearest", R"({"names": ["a", "b"], "vectors": {"tensor": [[1.0, 0.0], [2.0, 0.0]]}})"));
}

TEST_CASE("index.nearest of two equally near takes the first and keeps equal names apart") {
    const Value found = run("index.nearest", parse_json(R"([["a", "b", "b"], [[1, 0], [0, 1], [0, 1]]])"));
    CHECK(found.at(0).find("nearest")->as_string() == "b");
    CHECK(found.at(1).find("nearest")->as_string() == "b");
    CHECK(found.at(1).find("score")->as_float() == 1);
}

TEST_CASE("index.nearest of nothing is empty and of one is none") {
    CHECK(run("index.nearest", parse_json("[[], []]")).size() == 0);
    CHECK(run("index.nearest", parse_json(R"([["a"], [[1, 0]]])")) ==
          parse_json(R"([{"name": "a", "nearest": null, "score": null}])"));
}

TEST_CASE("index.nearest finds nothing near a vector of zeros and it near nothing") {
    const Value found = run("index.nearest(k=2)", parse_json(R"([["a", "empty", "b"], [[1, 0], [0, 0], [-1, 0]]])"));
    CHECK(found == parse_json(R"([{"name": "a", "nearest": "b", "score": -1.0},
                                  {"name": "empty", "nearest": null, "score": null},
                                  {"name": "b", "nearest": "a", "score": -1.0}])"));
}

TEST_CASE("index.nearest works through collections larger than it takes at once") {
    std::vector<Value> names;
    std::vector<Value> rows;
    for (int i = 0; i < 600; ++i) {
        names.emplace_back("n" + std::to_string(i));
        const double angle = (i % 2 == 0 ? 0.0 : 0.001) + (i / 2) * 0.02;
        rows.push_back(Value::list({std::cos(angle), std::sin(angle)}));
    }
    const Value found = run("index.nearest", Value::list({Value::list(names), Value::list(rows)}));
    REQUIRE(found.size() == 600);
    for (const int i : {0, 1, 254, 255, 256, 257, 598, 599}) {
        CHECK(found.at(static_cast<std::size_t>(i)).find("nearest")->as_string() == "n" + std::to_string(i ^ 1));
    }
}

TEST_CASE("index.nearest says what it wants") {
    CHECK(holds(failure("index.nearest", 5),
                "the input must be names and vectors, as a dict of those keys or a list of the two"));
    CHECK(holds(failure_json("index.nearest", R"({"name": ["a"], "vectors": [[1]]})"), "names"));
    CHECK(holds(failure_json("index.nearest", R"([["a", "b"], [[1, 0]]])"),
                "there are 2 names, so `vectors` must be a matrix of as many rows, not of sizes [1, 2]"));
    CHECK(holds(failure_json("index.nearest", R"([["a", 5], [[1], [2]]])"),
                "each of `names` must be a string, not an int"));
    CHECK(holds(failure_json("index.nearest", R"([["a", "b"], "text"])"),
                "`vectors` must be a tensor, or numbers in lists, not a string"));
    CHECK(holds(failure_json("index.nearest(k=0)", R"([["a"], [[1]]])"), "k"));
}

TEST_CASE("index.nearest says that vectors without numbers cannot be compared (meta)") {
    CHECK(failure_json(R"(index.nearest.on("meta"))", R"([["a", "b"], [[1], [2]]])") ==
          "node `nearest` failed: the vectors are on `meta` and hold no numbers to compare");
}

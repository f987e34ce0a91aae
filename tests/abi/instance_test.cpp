// SPDX-License-Identifier: Apache-2.0
// Nodes made by a plugin: what they are told, and what may be wrong with them.
#include <string>

#include "abi/support.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

TEST_CASE("a node is told its id and place and seed and checked configuration when it is made") {
    const Catalog catalog = catalog_of("misuse");
    const auto telling = [&](std::optional<Device> device, std::uint64_t seed, const std::string& id = "n1") {
        return run(*Instance::create(catalog.get("misuse.telling"), id, Value(), device, seed));
    };
    const Value unplaced = telling(std::nullopt, 1);
    CHECK(unplaced.find("id")->as_string() == "n1");
    CHECK(unplaced.find("device")->is_none());
    CHECK(unplaced.find("kind")->as_int() == SOMA_DEVICE_NONE);
    CHECK(*unplaced.find("config") == Value::dict({{"what", ""}}));
    CHECK(unplaced.find("data")->as_string() == "type data");

    const Value placed = telling(Device(DeviceKind::cuda, 3), 1);
    CHECK(placed.find("device")->as_string() == "cuda:3");
    CHECK(placed.find("kind")->as_int() == SOMA_DEVICE_CUDA);
    CHECK(placed.find("index")->as_int() == 3);
    // Weights do not depend on where a node is, but on which node it is and on the pipeline's seed.
    CHECK(*placed.find("seed") == *unplaced.find("seed"));
    CHECK_FALSE(*telling(std::nullopt, 2).find("seed") == *unplaced.find("seed"));
    CHECK_FALSE(*telling(std::nullopt, 1, "n2").find("seed") == *unplaced.find("seed"));
}

TEST_CASE("a node that cannot be made says which and why") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(thrown<NodeError>([&] { make(catalog, "misuse.failing"); }) ==
          "node `n1` could not be created: there are no weights: no file weights.bin (plugin `misuse`)");
    CHECK(thrown<NodeError>([&] { make(catalog, "misuse.nothing"); }) ==
          "node `n1` could not be created: `create` of `misuse.nothing` succeeded but gave no instance; set *self "
          "(plugin `misuse`)");
    try {
        make(catalog, "misuse.failing");
        FAIL("it was created");
    } catch (const NodeError& error) {
        CHECK(error.node() == "n1");
        CHECK(error.plugin() == "misuse");
    }
}

TEST_CASE("state that is not as it should be is named") {
    const Catalog catalog = catalog_of("misuse");
    const auto told = [&](const char* what) {
        const auto node = make(catalog, "misuse.state", Value::dict({{"what", what}}));
        return thrown<NodeError>([&] { static_cast<void>(node->state()); });
    };
    CHECK(told("state without end") ==
          "node `n1` says that it holds 4294967295 tensors, expected at most 1048576 (plugin `misuse`)");
    CHECK(told("state that fails") == "node `n1` could not give its tensor 0: it was lost (plugin `misuse`)");
    CHECK(told("state without a name") == "node `n1` gave its tensor 0 no name (plugin `misuse`)");
    CHECK(told("state without a value") ==
          "node `n1` gave for its state `weight` nothing, expected a tensor (plugin `misuse`)");
    CHECK(told("a dict for state") ==
          "node `n1` gave for its state `weight` dict, expected a tensor (plugin `misuse`)");
}

TEST_CASE("a node without state has none to set and nothing to move") {
    const Catalog catalog = catalog_of("misuse");
    const auto node = make(catalog, "misuse.call");
    CHECK(node->state().empty());
    node->moved(Device(DeviceKind::cpu));
    CHECK(thrown<NodeError>([&] { node->set_state("weight", 1); }) ==
          "node `n1` has no state `weight` (plugin `misuse`)");
}

TEST_CASE("a node that cannot move says so") {
    const Catalog catalog = catalog_of("misuse");
    const auto node = make(catalog, "misuse.state", Value::dict({{"what", "stays"}}));
    CHECK(thrown<NodeError>([&] { node->moved(Device(DeviceKind::cuda, 1)); }) ==
          "node `n1` could not move to `cuda:1`: cuda:1 (plugin `misuse`)");
    CHECK(thrown<NodeError>([&] { node->moved(std::nullopt); }) ==
          "node `n1` could not be made unplaced: it has nowhere to go (plugin `misuse`)");
}

TEST_CASE("a configuration is checked against the schema and the defaults are filled in") {
    const Catalog catalog = catalog_of("values");
    const auto type = catalog.get("values.deep");
    const auto told = [&](const char* json) {
        return thrown<GraphError>([&] { static_cast<void>(type->checked_config(parse_json(json), "d")); });
    };
    CHECK(to_json(type->checked_config(parse_json(R"({"depth": 2})"), "d")) == R"({"depth": 2, "of": "list"})");
    CHECK(to_json(type->checked_config(parse_json(R"({"of": "dict", "depth": 0})"), "d")) ==
          R"({"depth": 0, "of": "dict"})");
    CHECK(told("{}") == "node `d`: `values.deep` needs `depth`, which was not given: levels");
    CHECK(told(R"({"depht": 3})") ==
          "node `d`: `values.deep` has no configuration field `depht` (did you mean `depth`?); "
          "it has `depth`, `of`");
    CHECK(told(R"({"depth": "3"})") == R"(node `d`: `depth` of `values.deep`: expected int, got string "3")");
    CHECK(told(R"({"depth": 3.0})") == "node `d`: `depth` of `values.deep`: expected int, got float 3.0");
    CHECK(told(R"({"depth": null})") == "node `d`: `depth` of `values.deep`: expected int, got none");
    CHECK(told(R"({"depth": true})") == "node `d`: `depth` of `values.deep`: expected int, got bool true");
    CHECK(told(R"({"depth": -1})") == "node `d`: `depth` of `values.deep`: expected at least 0, got int -1");
    CHECK(
        told(R"({"depth": 1, "of": "lists"})") ==
        R"(node `d`: `of` of `values.deep`: expected one of "list", "dict", got string "lists" (did you mean `list`?))");
    CHECK(told("[1]") == "node `d`: the configuration of `values.deep` is a list, expected a dict");
    const auto none = catalog.get("values.kinds");
    CHECK(thrown<GraphError>([&] { static_cast<void>(none->checked_config(parse_json(R"({"x": 1})"), "k")); }) ==
          "node `k`: `values.kinds` takes no configuration, but `x` was given");
}

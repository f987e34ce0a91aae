// SPDX-License-Identifier: Apache-2.0
// Exceptions that leave a plugin all the same.
#include "hostile/files.h"
#include "soma/catalog.h"
#include "soma/error.h"
#include "soma/instance.h"
#include "soma/log.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

TEST_CASE("a plugin that throws while it registers is refused and its types are known as refused") {
    Catalog catalog;
    catalog.load_directory(test_plugins("throws_early"));
    REQUIRE(catalog.refusals().size() == 1);
    CHECK(catalog.refusals()[0].reason ==
          "its `register_nodes` threw, which no plugin function may: register_nodes has had enough");
    CHECK(catalog.types().empty());
    CHECK(catalog.refused_provider("throws.node") == &catalog.refusals()[0]);
}

TEST_CASE("what a plugin throws elsewhere is caught and told") {
    std::vector<std::string> lines;
    set_log_sink(
        [&](const LogLine& line) { lines.push_back(std::string(line.origin) + ": " + std::string(line.text)); });
    {
        Catalog catalog;
        catalog.load_directory(test_plugins("throws"));
        const auto create = [&](int where) {
            return Instance::create(catalog.get("throws.node"), "n", Value::dict({{"where", where}}), {}, 0);
        };
        const auto told = [&](int where) -> std::string {
            try {
                static_cast<void>(create(where)->state());
                return {};
            } catch (const NodeError& error) {
                return error.what();
            }
        };
        CHECK(told(0) == "node `n` could not be created: create has had enough (plugin `throws`)");
        CHECK(told(1) ==
              "node `n` could not be created: something that is no std::exception was thrown (plugin `throws`)");
        CHECK(lines.empty());
        CHECK(told(2) ==
              "node `n` could not say how many tensors it holds: state_count has had enough (plugin `throws`)");
    }
    set_log_sink({});
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == "throws: `destroy` threw, which no plugin function may");
    CHECK(lines[1] == "throws: `shutdown` threw, which no plugin function may");
}

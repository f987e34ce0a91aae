// SPDX-License-Identifier: Apache-2.0
// Values through the interface: made and read by a plugin in C.
#include <string>

#include "abi/support.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

Value bytes(std::string_view text) { return Value::bytes(std::as_bytes(std::span(text))); }

} // namespace

TEST_CASE("a plugin in C makes values of every kind and empty ones of each that can be") {
    const Catalog catalog = catalog_of("values");
    const Value made = run(*make(catalog, "values.kinds"));
    using namespace std::string_view_literals;
    CHECK(made == Value::dict({
                      {"none", Value()},
                      {"yes", true},
                      {"int", std::numeric_limits<std::int64_t>::min()},
                      {"float", 0.1},
                      {"text", "z\u00e9ro \U0001F30D"},
                      {"empty text", ""},
                      {"bytes", bytes("a\0b\0"sv)},
                      {"empty bytes", bytes("")},
                      {"empty list", Value::list({})},
                      {"empty dict", Value::dict({})},
                      {"items", Value::list({Value(), true, std::numeric_limits<std::int64_t>::min(), 0.1})},
                      {"null items", Value::list({Value(), Value()})},
                  }));
    CHECK(made.key(0) == "none");
    CHECK(made.key(11) == "null items");
}

TEST_CASE("what a plugin in C reads and makes again is what it was given") {
    const Catalog catalog = catalog_of("values");
    const auto node = make(catalog, "values.copy");
    using namespace std::string_view_literals;
    std::vector<Value> values{
        Value(),
        true,
        false,
        0,
        -1,
        std::numeric_limits<std::int64_t>::max(),
        0.0,
        -0.0,
        5e-324,
        std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN(),
        "",
        std::string_view("a\0b"sv),
        "\u00e9 \u4e2d\u6587 \u0627\u0644 \U0001F469\u200D\U0001F52C \uFFFD \U0010FFFF e\u0301",
        bytes("\0\xff\xfe\0"sv),
        bytes(""),
        Value::list({}),
        Value::dict({}),
        Value::list({Value(), Value::list({Value::list({})}), Value::dict({{"", Value()}, {"a\0b", 1}})}),
    };
    for (const Value& value : values) CHECK(run(*node, value) == value);
    const Value all = Value::list(values);
    CHECK(run(*node, all) == all);
}

TEST_CASE("a dict of a thousand keys keeps their order and finds each") {
    const Catalog catalog = catalog_of("values");
    std::vector<std::pair<std::string, Value>> entries;
    for (int i = 0; i < 1000; ++i) entries.emplace_back("k" + std::to_string(i * 7919 % 1000), i);
    const Value copied = run(*make(catalog, "values.copy"), Value::dict(entries));
    REQUIRE(copied.size() == 1000);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        CHECK(copied.key(i) == entries[i].first);
        REQUIRE(copied.find(entries[i].first) != nullptr);
        CHECK(copied.find(entries[i].first)->as_int() == static_cast<std::int64_t>(i));
    }
    CHECK(copied.find("k1000") == nullptr);
}

TEST_CASE("lists and dicts a million deep are made and compared and freed") {
    const Catalog catalog = catalog_of("values");
    for (const char* of : {"list", "dict"}) {
        const Value config = Value::dict({{"depth", 1'000'000}, {"of", of}});
        const auto node = make(catalog, "values.deep", config);
        const Value one = run(*node, 7);
        const Value same = run(*node, 7);
        const Value other = run(*node, 8);
        CHECK(one == same);
        CHECK_FALSE(one == other);
        CHECK(thrown<ValueError>([&] { static_cast<void>(to_json(one)); }) ==
              "the value is nested deeper than 1000 levels, too deep to be written as JSON");
        CHECK(summary(one) == std::string(of) + " of 1");
    }
}

TEST_CASE("an opaque value gives its payload to who knows its type") {
    const Catalog catalog = catalog_of("values");
    const auto box = make(catalog, "values.box", Value::dict({{"number", 3}}));
    const Value made = run(*box);
    CHECK(made.kind() == Kind::opaque);
    CHECK(made.opaque_type() == "test.box/1");
    CHECK(run(*make(catalog, "values.open"), made).as_int() == 3);
    CHECK(summary(made) == "opaque test.box/1 on cuda:2");
    CHECK(to_json(made) == R"({"opaque": "test.box/1"})");

    const Value silent = run(*make(catalog, "values.box", Value::dict({{"type", "silent"}})));
    CHECK(thrown<ValueError>([&] { run(*make(catalog, "values.open"), silent); }) ==
          "get_opaque: expected an opaque value of type `test.box/1`, got one of type `test.silent/1`");
    CHECK(thrown<ValueError>([&] { run(*make(catalog, "values.open"), 3); }) == "get_opaque: expected opaque, got int");
}

TEST_CASE("an opaque payload is destroyed once with the last reference") {
    const Catalog catalog = catalog_of("values");
    const auto box = make(catalog, "values.box");
    const auto boxes = make(catalog, "values.boxes");
    const auto count = [&] { return run(*boxes).as_int(); };
    {
        const Value inner = run(*box, "kept");
        const Value outer = run(*box, Value::list({inner, inner}));
        const Value copy = outer;
        CHECK(count() == 2);
    }
    CHECK(count() == 0);
}

TEST_CASE("a value keeps its plugin loaded when all else of it is gone") {
    Value made;
    std::weak_ptr<const Plugin> plugin;
    {
        const Catalog catalog = catalog_of("values");
        plugin = catalog.plugins().front();
        made = run(*make(catalog, "values.box", Value::dict({{"number", 1}})));
    }
    CHECK_FALSE(plugin.expired());
    CHECK(summary(made) == "opaque test.box/1 on cuda:0");
    made = Value();
    CHECK(plugin.expired());
}

TEST_CASE("a copy shares and a plain value of C++ keeps what it is told to keep") {
    int destroyed = 0;
    const soma_opaque_type type{sizeof(soma_opaque_type), 0, SOMA_STR("test.here/1"),
                                [](void* payload) { ++*static_cast<int*>(payload); }, nullptr};
    auto keep = std::make_shared<int>(1);
    {
        const Value value = Value::opaque(type, &destroyed, keep);
        const Value copy = value;
        CHECK(copy == value);
        CHECK_FALSE(Value::opaque(type, &destroyed) == value);
        CHECK(destroyed == 1);
        CHECK(keep.use_count() == 2);
    }
    CHECK(destroyed == 2);
    CHECK(keep.use_count() == 1);
}

TEST_CASE("memory goes back to the side it came from and what is passed is copied at once") {
    const Catalog catalog = catalog_of("sides");
    const auto node = make(catalog, "sides.node");
    // Blocks of the plugin's own memory: one is the node itself.
    const auto blocks = [&] { return run(*node, "count").as_int(); };
    CHECK(blocks() == 1);
    {
        const auto other = make(catalog, "sides.node");
        const Value made = run(*other, "values");
        CHECK(blocks() == 3);
        CHECK(*made.find("text") == Value("a text"));
        CHECK(*made.find("bytes") == bytes("some bytes"));
        CHECK(made.find("items")->at(0) == Value("a text"));
        CHECK(made.find("items")->at(1).opaque_type() == "sides.block/1");
        // The value of a plugin's memory outlives what it was in.
        const Value block = made.find("items")->at(1);
        CHECK(blocks() == 3);
    }
    CHECK(blocks() == 1);
    Log log;
    CHECK(thrown<ValueError>([&] { run(*node, "failure"); }) == "no weights: the disk is gone");
    CHECK(log.lines == std::vector<std::string>{"warning sides n1: it will fail"});
    CHECK(blocks() == 1);
}

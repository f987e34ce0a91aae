// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>

#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"

using namespace soma;

namespace {

std::string told(std::string_view json) {
    try {
        static_cast<void>(parse_json(json));
        return {};
    } catch (const ValueError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("JSON reads and writes back the same") {
    for (const char* json : {"null", "true", "false", "0", "-5", "9223372036854775807", "-9223372036854775808", "2.5",
                             "-0.0", "1e+300", "5e-324", "\"\"", "\"a\\\"b\\\\c\\n\\t\\u0001\"",
                             "\"\u00e9\u4e2d\U0001F30D\"", "[]", "{}", "[1, [2, {}], {\"b\": null, \"a\": []}]"}) {
        CHECK(to_json(parse_json(json)) == json);
    }
}

TEST_CASE("numbers keep their kind and floats their value") {
    CHECK(parse_json("1").kind() == Kind::integer);
    CHECK(parse_json("1.0").kind() == Kind::real);
    CHECK(parse_json("1e2").kind() == Kind::real);
    CHECK(to_json(1.0) == "1.0");
    // What 64 bits do not hold is as near as a float comes.
    CHECK(parse_json("9223372036854775808") == Value(9223372036854775808.0));
    CHECK(parse_json("18446744073709551616") == Value(18446744073709551616.0));
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t bits = random();
        double number = 0;
        std::memcpy(&number, &bits, sizeof number);
        if (number == number && number - number == 0) CHECK(parse_json(to_json(number)) == Value(number));
    }
    CHECK(to_json(std::numeric_limits<double>::infinity()) == "null");
    CHECK(to_json(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("short JSON is held to the same rules as long") {
    for (const char* json : {"0", "7", "-12", "123456789012345678", "-123456789012345678", "1234567890123456789",
                             "true", "false", "null", "\"\"", "\"a b\""}) {
        INFO(json);
        CHECK(parse_json(json) == parse_json(std::string("[") + json + "]").at(0));
    }
    for (const char* json : {"007", "-", "+1", "1_0", "\"a", "\"a\"b\"", "tru", "\"\t\""}) {
        INFO(json);
        CHECK_THROWS_AS(parse_json(json), Error);
    }
    CHECK(parse_json("-0").kind() == parse_json("[-0]").at(0).kind());
}

TEST_CASE("JSON errors say line and column and why") {
    CHECK(told("{\"a\": 1,\n \"b\": tru}")
              .find("JSON is not valid at 2:10: syntax error while parsing value - invalid "
                    "literal") == 0);
    CHECK(told("").find("JSON is not valid at 1:1: ") == 0);
    CHECK(told("[1, 2") == "JSON is not valid at 1:6: syntax error while parsing array - unexpected end of input; "
                           "expected ']'");
    CHECK(told("1 2").find("JSON is not valid at 1:3: ") == 0);
    CHECK(told("\"a\xff\"").find("ill-formed UTF-8 byte") != std::string::npos);
    // Columns count characters, not bytes.
    CHECK(told("[\"\u00e9\u00e9\" x").find("JSON is not valid at 1:7: ") == 0);
    CHECK(told("1e999") == "JSON is not valid at 1:5: number overflow parsing '1e999'");
    CHECK(told("NaN").find("JSON is not valid at 1:1: ") == 0);
}

TEST_CASE("a key given twice in JSON is an error at the second") {
    CHECK(told("{\"a\": 1,\n  \"a\": 2}") == "JSON is not valid at 2:3: key `a` is given twice");
    CHECK(told("{\"a\\\"\": {\"a\": 1}, \"a\\\"\": 2}") == "JSON is not valid at 1:19: key `a\"` is given twice");
    std::string many = "{";
    for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\": 0, ";
    CHECK(told(many + "\"k3\": 1}").find("key `k3` is given twice") != std::string::npos);
    CHECK(told(many + "\"k100\": 1}").empty());
}

TEST_CASE("JSON nested too deep is refused and not crashed upon") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(to_json(parse_json(nested(1000))) == nested(1000));
    CHECK(told(nested(1001)) == "JSON is not valid at 1:1001: lists and objects are nested deeper than 1000 levels");
    CHECK(told(std::string(5'000'000, '[')).find("nested deeper than 1000 levels") != std::string::npos);
}

TEST_CASE("JSON with an indent has a line an item") {
    CHECK(to_json(parse_json(R"({"a": [1, {"b": []}], "c": {}})"), 2) ==
          "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
}

TEST_CASE("bytes are written as base64") {
    const auto base64 = [](std::string_view text) { return to_json(Value::bytes(std::as_bytes(std::span(text)))); };
    CHECK(base64("") == R"({"bytes": ""})");
    CHECK(base64("f") == R"({"bytes": "Zg=="})");
    CHECK(base64("fo") == R"({"bytes": "Zm8="})");
    CHECK(base64("foobar") == R"({"bytes": "Zm9vYmFy"})");
    CHECK(base64("\xff\xfe\xfd") == R"({"bytes": "//79"})");
}

TEST_CASE("bytes are read back from the base64 they are written as") {
    for (const std::string text : {"", "f", "fo", "foo", "foobar", "\xff\xfe\xfd", "\xff\xff\xff\xff"}) {
        const Value bytes = Value::bytes(std::as_bytes(std::span(text)));
        CHECK(tensors_from_json(parse_json(to_json(Value::list({bytes})))) == Value::list({bytes}));
    }
    for (const std::string text : {"A", "AA", "AAA", "A===", "AA=A", "A A=", "AAAA="}) {
        INFO(text);
        CHECK_THROWS_AS(tensors_from_json(Value::dict({{"bytes", text}})), ValueError);
    }
    const Value more = parse_json(R"([{"bytes": 5}, {"bytes": "AAAA", "text": "x"}])");
    CHECK(tensors_from_json(more).handle() == more.handle());
}

TEST_CASE("a summary is one line that says what a value is") {
    CHECK(summary(Value()) == "none");
    CHECK(summary(true) == "true");
    CHECK(summary(3) == "3");
    CHECK(summary(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(summary("a\nb") == "\"a\\nb\"");
    CHECK(summary(std::string(100, 'x')) == "\"" + std::string(40, 'x') + "…\"");
    CHECK(summary(std::string(39, 'x') + "\n\n\n") == "\"" + std::string(39, 'x') + "…\"");
    CHECK(summary(Value::bytes({})) == "0 bytes");
    CHECK(summary(Value::list({1, 2})) == "list of 2");
    CHECK(summary(Value::dict({{"a", 1}})) == "dict of 1");
}

TEST_CASE("a value without tensors in it is left as it is") {
    const Value value = parse_json(R"([1, {"tensors": [1]}, "tensor"])");
    CHECK(tensors_from_json(value).handle() == value.handle());
    CHECK_THROWS_WITH(
        tensors_from_json(parse_json(R"({"tensor": [1], "label": 2})")),
        "an object with the key `tensor` is a tensor and may have `dtype` and `device` besides, but this one "
        "has `label`");
}

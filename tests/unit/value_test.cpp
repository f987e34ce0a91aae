// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "soma/detail/value_rep.h"
#include "soma/error.h"
#include "soma/value.h"
#include "support/catch.h"

using namespace soma;

TEST_CASE("a value knows its kind and gives what it was made of") {
    CHECK(Value().kind() == Kind::none);
    CHECK(Value().is_none());
    CHECK(Value(true).as_bool());
    CHECK(Value(-7).as_int() == -7);
    CHECK(Value(std::uint8_t{200}).as_int() == 200);
    CHECK(Value(2.5).as_float() == 2.5);
    CHECK(Value(3).as_float() == 3.0);
    CHECK(Value("text").as_string() == "text");
    CHECK(Value(std::string("text")).as_string().data()[4] == '\0');
    const Value list = Value::list({1, "two", Value()});
    CHECK(list.size() == 3);
    CHECK(list.at(1).as_string() == "two");
    const Value dict = Value::dict({{"b", 1}, {"a", 2}});
    CHECK(dict.key(0) == "b");
    CHECK(dict.at(1).as_int() == 2);
    CHECK(dict.find("a")->as_int() == 2);
    CHECK(dict.find("c") == nullptr);
    CHECK(list.find("a") == nullptr);
    CHECK(Value(3).size() == 0);
    CHECK(Value(3).opaque_type().empty());
}

TEST_CASE("asking for another kind names both kinds") {
    CHECK_THROWS_WITH(Value(3).as_string(), "expected string, got int");
    CHECK_THROWS_WITH(Value(2.0).as_int(), "expected int, got float");
    CHECK_THROWS_WITH(Value("x").as_float(), "expected float, got string");
    CHECK_THROWS_WITH(Value().as_bool(), "expected bool, got none");
    CHECK_THROWS_WITH(Value(true).as_bytes(), "expected bytes, got bool");
    CHECK_THROWS_WITH(Value::dict({}).as_bool(), "expected bool, got dict");
    CHECK_THROWS_WITH(Value(3).at(0), "expected list, got int");
    CHECK_THROWS_WITH(Value::list({}).key(0), "expected dict, got list");
    CHECK_THROWS_WITH(Value::list({1}).at(1), "index 1 is out of range: there is 1 item");
    CHECK_THROWS_WITH(Value::dict({{"a", 1}}).key(2), "index 2 is out of range: there is 1 entry");
}

TEST_CASE("text that is not UTF-8 is refused with the byte and its place") {
    const auto told = [](std::string_view text) -> std::string {
        try {
            static_cast<void>(Value(text));
            return {};
        } catch (const ValueError& error) {
            return error.what();
        }
    };
    CHECK(told("abc\x80") == "the text is not UTF-8: byte 0x80 at offset 3");
    CHECK(told("0123456789\xc3") == "the text is not UTF-8: byte 0xc3 at offset 10");
    // Overlong, a surrogate, past the last code point, cut short, and bytes that are never used.
    for (const char* text : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
                             "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x8c", "\xff", "\xfe"}) {
        CHECK(told(text).find("the text is not UTF-8: byte 0x") == 0);
    }
    for (const char* text : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                             "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        CHECK(told(text).empty());
    }
    using namespace std::string_view_literals;
    CHECK(Value("a\0b"sv).as_string().size() == 3);
}

TEST_CASE("a key given twice is refused in short dicts and in long ones") {
    CHECK_THROWS_WITH(Value::dict({{"a", 1}, {"b", 2}, {"a", 3}}), "key `a` is given twice; a dict has each key once");
    std::vector<std::pair<std::string, Value>> many;
    for (int i = 0; i < 100; ++i) many.emplace_back("k" + std::to_string(i), i);
    CHECK(Value::dict(many).find("k77")->as_int() == 77);
    many.emplace_back("k50", 0);
    CHECK_THROWS_WITH(Value::dict(many), "key `k50` is given twice; a dict has each key once");
}

TEST_CASE("equality is deep and minds kinds but not the order of keys") {
    CHECK(Value() == Value());
    CHECK_FALSE(Value(1) == Value(1.0));
    CHECK_FALSE(Value(1) == Value(true));
    CHECK_FALSE(Value("1") == Value(1));
    CHECK(Value(0.0) == Value(-0.0));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(Value::list({nan}) == Value::list({nan}));
    CHECK_FALSE(Value(nan) == Value(1.0));
    CHECK(Value::dict({{"a", 1}, {"b", Value::list({2})}}) == Value::dict({{"b", Value::list({2})}, {"a", 1}}));
    CHECK_FALSE(Value::dict({{"a", 1}, {"b", 2}}) == Value::dict({{"a", 1}, {"c", 2}}));
    CHECK_FALSE(Value::list({1, 2}) == Value::list({2, 1}));
    CHECK_FALSE(Value::list({1}) == Value::list({1, 1}));
    CHECK_FALSE(Value::list({}) == Value::dict({}));
}

TEST_CASE("none is one handle that no number of releases frees") {
    soma_value* none = Value().release();
    CHECK(none == Value().handle());
    for (int i = 0; i < 1000; ++i) detail::release(none);
    CHECK(none->kind == SOMA_KIND_NONE);
    CHECK(Value::share(none).is_none());
    // As after four thousand million releases too many.
    none->refs = 1;
    detail::release(none);
    CHECK(none->kind == SOMA_KIND_NONE);
    CHECK(none->refs > 1000);
}

TEST_CASE("copies share and moves leave none behind") {
    Value one = Value::list({"x"});
    const Value two = one;
    CHECK(one.handle() == two.handle());
    CHECK(one.handle()->refs == 2);
    Value three = std::move(one);
    CHECK(one.is_none());
    CHECK(three.handle() == two.handle());
    three = Value(1);
    CHECK(two.handle()->refs == 1);
    soma_value* handle = Value(5).release();
    CHECK(Value::adopt(handle).as_int() == 5);
}

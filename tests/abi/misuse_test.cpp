// SPDX-License-Identifier: Apache-2.0
// The host notices what a plugin does wrong, and says which function it was.
#include <string>

#include "abi/support.h"
#include "soma/error.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

std::string told(const Catalog& catalog, const std::string& what, const Value& input = 5) {
    return thrown<ValueError>([&] { run(*make(catalog, "misuse.call", Value::dict({{"what", what}})), input); });
}

const std::string here = "pass the soma_host* that `register_nodes` and `create` were given";

} // namespace

TEST_CASE("a call with no host or with one that is none is noticed") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "no host") == "make_int: the host is NULL; " + here);
    const std::string other =
        "make_int: the host is not one that this program gave out, or its plugin is gone; " + here;
    CHECK(told(catalog, "wrong host") == other);
    CHECK(told(catalog, "crooked host") == other);
}

TEST_CASE("a NULL where something is needed is noticed and named") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "no out") == "make_int: out is NULL");
    CHECK(told(catalog, "no value") == "get_int: value is NULL, but a value is needed");
    CHECK(told(catalog, "no items") == "make_list: items is NULL");
    CHECK(told(catalog, "no memory") == "tensor_from_dlpack: managed is NULL");
    CHECK(told(catalog, "call nothing") == "op_call: call is NULL");
    CHECK(told(catalog, "find nowhere") == "op_find: out is NULL");
    CHECK(told(catalog, "no context") == "make_generator: ctx is NULL");
    const Value bytes = Value::bytes({});
    CHECK(told(catalog, "no size", bytes) == "get_bytes: size is NULL");
}

TEST_CASE("a value of another kind is refused naming both kinds") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "wrong kind") == "get_string: expected string, got int");
    CHECK(told(catalog, "size of an int") == "get_size: expected list, got int");
    CHECK(told(catalog, "bytes of an int") == "get_bytes: expected bytes, got int");
    CHECK(told(catalog, "opaque of an int") == "get_opaque: expected opaque, got int");
    CHECK(told(catalog, "info of an int") == "tensor_info: expected tensor, got int");
    CHECK(told(catalog, "state that is an int") == "state_to: expected tensor, got int");
    CHECK(told(catalog, "memory of an int") == "tensor_to_dlpack: expected tensor, got int");
}

TEST_CASE("an index out of range and a key that is not there are told") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "item out of range", Value::list({1, 2})) ==
          "get_item: index 7 is out of range: there are 2 items");
    CHECK(told(catalog, "key out of range", Value::dict({{"a", 1}})) ==
          "get_key: index 7 is out of range: there is 1 entry");
    CHECK(told(catalog, "no such key", Value::dict({{"width", 1}, {"length", 2}})) ==
          "get_entry: there is no key `lenght` (did you mean `length`?)");
}

TEST_CASE("texts that are none and dicts with a key twice are refused") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "not UTF-8") == "make_string: the text is not UTF-8: byte 0xff at offset 2");
    CHECK(told(catalog, "key not UTF-8") == "make_dict: a key is not UTF-8: byte 0xff at offset 2");
    CHECK(told(catalog, "key twice") == "make_dict: key `a` is given twice; a dict has each key once");
    const std::string no_string =
        " is not a string: its data is NULL and its size is not 0, or its size is beyond all memory";
    CHECK(told(catalog, "no data") == "make_string: text" + no_string);
    CHECK(told(catalog, "find no name") == "op_find: name" + no_string);
    CHECK(told(catalog, "bytes without data") == "make_bytes: data" + no_string);
}

TEST_CASE("a node type registered too late is refused") {
    CHECK(told(catalog_of("misuse"), "late registration") ==
          "register_node: it was called outside `register_nodes`; a plugin gives all its node types there");
}

TEST_CASE("an opaque type that is not sound is refused") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "opaque too small") == "make_opaque: the opaque type's struct_size is 0, too small to hold "
                                               "`destroy`; set it to sizeof(soma_opaque_type)");
    CHECK(told(catalog, "opaque without id") ==
          "make_opaque: the opaque type has no type_id; give it one such as \"vendor.name/1\"");
    CHECK(told(catalog, "opaque without destroy") == "make_opaque: the opaque type `test.leak/1` has no `destroy`");
}

TEST_CASE("a device that is none is refused before anything is moved") {
    CHECK(told(catalog_of("misuse"), "to nowhere").find("value_to: ") == 0);
    CHECK(told(catalog_of("misuse"), "to nowhere").find("did you mean `cuda`?") != std::string::npos);
}

TEST_CASE("a plugin that says cuda without a number is asked for one and not given the first") {
    CHECK(told(catalog_of("misuse"), "to a kind") ==
          "value_to: `cuda` needs an index: write `cuda:0` for the first one");
}

TEST_CASE("misuse of what cannot fail is told in the log") {
    const Catalog catalog = catalog_of("misuse");
    const auto logged = [&](const std::string& what) {
        Log log;
        CHECK(told(catalog, what) == "");
        return log.lines.empty() ? std::string() : log.lines.back();
    };
    CHECK(logged("released value") ==
          "error misuse: it called `value_release` wrongly: the value was released already");
    CHECK(logged("released status") ==
          "error misuse: it called `status_release` wrongly: the status was released already");
    CHECK(logged("release without host") ==
          "error a plugin: it called `value_release` wrongly: the host is NULL; " + here);
    CHECK(logged("log without host") == "error a plugin: it called `log` wrongly: the host is NULL; " + here);
    CHECK(logged("extension without id") == "error misuse: it called `get_extension` wrongly: id is NULL");
    CHECK(logged("cancelled without context") == "error misuse: it called `cancelled` wrongly: ctx is NULL");
    CHECK(logged("copied context") ==
          "error misuse: it called `cancelled` wrongly: ctx is a copy, or is used after its "
          "`forward`; pass the pointer that was given");
    CHECK(logged("unknown extension") == "");
    CHECK(logged("nothing wrong") == "");
}

TEST_CASE("a plugin's log lines say whose they are") {
    const Catalog catalog = catalog_of("misuse");
    Log log;
    told(catalog, "log");
    told(catalog, "log not UTF-8");
    REQUIRE(log.lines.size() == 2);
    CHECK(log.lines[0] == "warning misuse n1: all is well");
    CHECK(log.lines[1] == "error misuse n: (the text is not UTF-8: byte 0xff at offset 2) `ab\\xff`");
    set_log_level(LogLevel::error);
    told(catalog, "log");
    CHECK(log.lines.size() == 2);
}

TEST_CASE("a status carries its cause and its origin") {
    const Catalog catalog = catalog_of("misuse");
    CHECK(told(catalog, "causes") == "no weights: the disk is gone");
    CHECK(told(catalog, "unknown code") == "a code of tomorrow");
    CHECK(told(catalog, "status not UTF-8") == "(the message is not UTF-8: byte 0xff at offset 2) `ab\\xff`");
    Log log;
    CHECK(told(catalog, "released cause") == "it has a cause");
    REQUIRE(log.lines.size() == 1);
    CHECK(log.lines[0] == "error misuse: it called `status_create` wrongly: the cause was released already");
}

TEST_CASE("a node learns that its run was cancelled or that its time is up") {
    const Catalog catalog = catalog_of("misuse");
    const auto node = make(catalog, "misuse.call", Value::dict({{"what", "cancelled"}}));
    const auto cancelled = [&](detail::RunContext context) {
        return thrown<ValueError>([&] { run(*node, Value(), context); }) == "so it is";
    };
    std::atomic<std::uint32_t> stop{0};
    detail::RunContext context{};
    CHECK_FALSE(cancelled(context));
    context.stop = &stop;
    CHECK_FALSE(cancelled(context));
    context.deadline_ns = std::numeric_limits<std::int64_t>::max();
    CHECK_FALSE(cancelled(context));
    context.deadline_ns = 1;
    CHECK(cancelled(context));
    context.deadline_ns = 0;
    stop = 1;
    CHECK(cancelled(context));
}

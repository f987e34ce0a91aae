// SPDX-License-Identifier: Apache-2.0
// Plugins of other versions of the interface than the host's.
#include <cstdlib>
#include <string>

#include "abi/support.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;
using namespace soma::test;

namespace {

// Why the plugin is refused, without the path; empty when it is not.
std::string refusal(const std::string& name) {
    const std::string path = (test_plugins(name) / (name + ".soma.so")).string();
    const std::string message = thrown<PluginError>([&] {
        Catalog catalog;
        catalog.load_file(path);
    });
    const std::string prefix = "plugin `" + path + "` was refused: ";
    if (message.empty()) return message;
    CHECK(message.substr(0, prefix.size()) == prefix);
    return message.substr(std::min(prefix.size(), message.size()));
}

bool ran() { return std::getenv("SOMA_TEST_RAN") != nullptr; }

} // namespace

TEST_CASE("a plugin of an older minor with shorter structs loads and runs") {
    const Catalog catalog = catalog_of("older");
    const auto type = catalog.get("older.echo");
    CHECK(type->plugin->name == "older");
    CHECK(type->plugin->version.empty());
    CHECK(type->doc.empty());
    REQUIRE(type->config.size() == 2);
    CHECK(type->config[0].name == "number");
    CHECK_FALSE(type->config[0].required);
    CHECK(type->config[1].kind == Kind::string);
    CHECK(type->functions.state_count == nullptr);
    CHECK(type->functions.get_extension == nullptr);
    const auto node = make(catalog, "older.echo", Value::dict({{"number", 4}}));
    CHECK(to_json(node->config()) == R"({"number": 4, "text": null})");
    CHECK(run(*node, "as it was") == Value("as it was"));
    CHECK(node->state().empty());
}

TEST_CASE("a plugin of a newer minor that needs no more than this one loads and runs") {
    const Catalog catalog = catalog_of("newer");
    const auto type = catalog.get("newer.payload");
    CHECK(type->version == 3);
    CHECK(type->plugin->built_minor == 500);
    REQUIRE(type->config.size() == 2);
    CHECK(type->config[1].name == "number");
    CHECK(*type->config[1].default_value == Value(3));
    REQUIRE(type->inputs.size() == 2);
    CHECK(type->inputs[1].name == "b");
    const auto node = make(catalog, "newer.payload");
    CHECK(to_json(node->config()) == R"({"text": "as it is", "number": 3})");
    CHECK(run(*node).opaque_type() == "test.newer/1");
}

TEST_CASE("a plugin that needs a newer host is refused showing both numbers and none of it runs") {
    unsetenv("SOMA_TEST_RAN");
    CHECK(refusal("needs_newer") == "it needs version 1.1000 of the plugin interface or later, this host has 1." +
                                        std::to_string(SOMA_ABI_MINOR) + "; update somatize, or get an older plugin");
    CHECK_FALSE(ran());
}

TEST_CASE("a plugin of another major is refused showing both numbers and none of it runs") {
    unsetenv("SOMA_TEST_RAN");
    CHECK(refusal("other_major") == "it was built for version 77 of the plugin interface, this host has version " +
                                        std::to_string(SOMA_ABI_MAJOR) + "; update somatize, or get an older plugin");
    CHECK_FALSE(ran());
}

TEST_CASE("an entry without the magic is refused and none of it runs") {
    unsetenv("SOMA_TEST_RAN");
    CHECK(refusal("bad_magic") ==
          "expected `soma_plugin_entry` to begin with the magic `SOMAPLUG`, got `NOTAPLUG`; begin "
          "it with SOMA_PLUGIN_MAGIC");
    CHECK_FALSE(ran());
}

TEST_CASE("a feature this host does not know is refused by number and by name and none of it runs") {
    unsetenv("SOMA_TEST_RAN");
    CHECK(refusal("unknown_feature") == "it requires features that this host does not know: bit 5 (`tensor-parallel`), "
                                        "bit 63 (which it gives no name); update somatize, or get the plugin built "
                                        "without them");
    CHECK_FALSE(ran());
}

TEST_CASE("an entry of a wrong size or without its mandatory parts is refused") {
    CHECK(refusal("small_entry") ==
          "its `soma_plugin_entry`: the struct_size of soma_entry is 40, expected 48 to 4096; "
          "set it to sizeof(soma_entry)");
    CHECK(refusal("large_entry") == "its `soma_plugin_entry` says that it has 2000 bytes, but there are 64; set "
                                    "struct_size to sizeof(soma_entry)");
    CHECK(refusal("no_info") == "its `soma_plugin_entry` has no `info`, which is mandatory");
    CHECK(refusal("no_register") == "its `soma_plugin_entry` has no `register_nodes`, which is mandatory");
    CHECK(refusal("small_info") ==
          "its soma_plugin_info: the struct_size of soma_plugin_info is 8, expected 24 to 4096; "
          "set it to sizeof(soma_plugin_info)");
    CHECK(refusal("no_name") == "its soma_plugin_info has no name, which is mandatory");
    CHECK(refusal("bad_author") == "its soma_plugin_info: author is not UTF-8: byte 0xe9 at offset 3");
}

TEST_CASE("a plugin that fails to register says why in its own words") {
    unsetenv("SOMA_TEST_RAN");
    CHECK(refusal("refuses") == "its `register_nodes` failed: it does not want to");
    // Such a plugin is loaded before it is refused, and then what runs at loading is seen to have run.
    CHECK(ran());
}

TEST_CASE("a golden binary loads where there is no engine too") {
#if !defined(__x86_64__)
    soma_skip("the golden binaries are for x86-64");
#endif
    Catalog catalog;
    catalog.load_directory(source_dir() / "tests" / "abi" / "golden" / "1.0");
    CHECK(catalog.refusals().empty());
    CHECK(catalog.types() == std::vector<std::string>{"golden.linear", "golden.mlp"});
    const auto type = catalog.get("golden.mlp");
    CHECK(type->plugin->built_minor == 0);
    REQUIRE(type->config.size() == 3);
    CHECK(type->config[1].name == "hidden");
    CHECK(*type->config[1].default_value == Value(4));
}

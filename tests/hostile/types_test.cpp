// SPDX-License-Identifier: Apache-2.0
// Node types that are not sound: each is refused by name. The plugin is part of the test, so that each case is a line.
#include <functional>

#include "soma/catalog.h"
#include "soma/error.h"
#include "support/catch.h"

using namespace soma;

namespace {

const soma_api* api = nullptr;
std::vector<soma_node_type> types;
bool passes_over_failures = false;

soma_status* create(soma_host*, const soma_create_info*, void**) { return nullptr; }
void destroy(void*) {}
soma_status* forward(void*, const soma_ctx*, soma_value*, soma_outcome*) { return nullptr; }

soma_status* register_nodes(const soma_api* given, soma_host* host) {
    api = given;
    for (const soma_node_type& type : types) {
        soma_status* status = api->register_node(host, &type);
        if (status == nullptr) continue;
        if (!passes_over_failures) return status;
        api->status_release(host, status);
    }
    return nullptr;
}

soma_string text(const char* chars) { return {chars, std::char_traits<char>::length(chars)}; }

soma_config_field field(const char* name, std::uint32_t kind, const char* standard = "") {
    soma_config_field made{};
    made.struct_size = sizeof made;
    made.kind = kind;
    made.name = text(name);
    made.default_json = text(standard);
    return made;
}

struct Case {
    soma_node_type type{};
    std::vector<soma_config_field> fields;
    std::vector<soma_port> ports;
};

// Why a plugin with the changed type is refused; empty when it is not.
std::string load() {
    soma_plugin_info info{};
    info.struct_size = sizeof info;
    info.name = text("in the program");
    soma_entry entry{SOMA_PLUGIN_MAGIC,
                     sizeof(soma_entry),
                     SOMA_ABI_MAJOR,
                     0,
                     SOMA_ABI_MINOR,
                     0,
                     &info,
                     register_nodes,
                     nullptr,
                     nullptr};
    try {
        Catalog catalog;
        const auto plugin = catalog.add(entry);
        CHECK(plugin->path.empty());
        return {};
    } catch (const PluginError& error) {
        const std::string message = error.what();
        const std::string prefix =
            "a plugin that is part of the program was refused: its `register_nodes` failed: register_node: ";
        return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
}

soma_node_type sound() {
    soma_node_type type{};
    type.struct_size = sizeof type;
    type.version = 1;
    type.name = text("fam.node");
    type.create = create;
    type.destroy = destroy;
    type.forward = forward;
    type.config_stride = sizeof(soma_config_field);
    type.input_stride = type.output_stride = sizeof(soma_port);
    return type;
}

std::string refused(const std::function<void(Case&)>& change) {
    Case made;
    made.type = sound();
    change(made);
    if (made.type.config == nullptr && made.type.config_count == 0) {
        made.type.config = made.fields.data();
        made.type.config_count = static_cast<std::uint32_t>(made.fields.size());
    }
    if (made.type.inputs == nullptr) {
        made.type.inputs = made.ports.data();
        made.type.input_count = static_cast<std::uint32_t>(made.ports.size());
    }
    types = {made.type};
    return load();
}

std::string refused_field(const soma_config_field& made) {
    return refused([&](Case& c) { c.fields = {made}; });
}

} // namespace

TEST_CASE("a sound type is not refused") {
    CHECK(refused([](Case&) {}) == "");
    CHECK(refused([](Case& c) { c.type.name = text("fam.sub_2.node3"); }) == "");
}

TEST_CASE("a type's name has a family and lower case parts") {
    for (const char* name : {"node", "fam.", ".node", "fam..node", "Fam.node", "fam.1node", "fam.no-de",
                             "fam.n\u00f6de", "fam._node", " fam.node"}) {
        CHECK(refused([&](Case& c) { c.type.name = text(name); }) ==
              "a node type is called `" + std::string(name) +
                  "`; expected `family.name`, each part a lower case letter, then lower case letters, digits and `_`");
    }
    CHECK(refused([](Case& c) { c.type.name = text("fam.\xff"); }) ==
          "a node type: its name is not UTF-8: byte 0xff at offset 4");
    CHECK(refused([](Case& c) {
              c.type.name = {nullptr, 4};
          }) == "a node type: its name is no string: its data is NULL and its size is 4");
}

TEST_CASE("sizes and strides and counts that are none are refused") {
    CHECK(refused([](Case& c) { c.type.struct_size = 100; }) ==
          "a node type: the struct_size of soma_node_type is 100, expected 144 to 4096; set it to "
          "sizeof(soma_node_type)");
    CHECK(refused([](Case& c) { c.type.struct_size = 0xffffffff; }) ==
          "a node type: the struct_size of soma_node_type is 4294967295, expected 144 to 4096; set it to "
          "sizeof(soma_node_type)");
    CHECK(refused([](Case& c) {
              c.fields = {field("a", SOMA_KIND_INT)};
              c.type.config_stride = 0;
          }) ==
          "node type `fam.node`: the stride of soma_config_field is 0, expected a multiple of 8 from 32 to 4096; set "
          "it to sizeof(soma_config_field)");
    CHECK(refused([](Case& c) {
              c.fields = {field("a", SOMA_KIND_INT)};
              c.type.config_stride = 113;
          }).find("the stride of soma_config_field is 113") != std::string::npos);
    CHECK(refused([](Case& c) {
              c.fields = {field("a", SOMA_KIND_INT)};
              c.fields[0].struct_size = 8;
          }) == "node type `fam.node`: the struct_size of soma_config_field is 8, expected 32 to 4096; set it to "
                "sizeof(soma_config_field)");
    CHECK(refused([](Case& c) { c.type.config_count = 3; }) ==
          "node type `fam.node`: it has 3 entries of soma_config_field, but their pointer is NULL");
    CHECK(refused([](Case& c) { c.type.config_count = 4'000'000'000u; }) ==
          "node type `fam.node`: it has 4000000000 entries of soma_config_field, expected at most 4096");
}

TEST_CASE("mandatory functions and the version are there") {
    const std::string mandatory = ", which is mandatory";
    CHECK(refused([](Case& c) { c.type.create = nullptr; }) == "node type `fam.node`: it has no `create`" + mandatory);
    CHECK(refused([](Case& c) { c.type.destroy = nullptr; }) ==
          "node type `fam.node`: it has no `destroy`" + mandatory);
    CHECK(refused([](Case& c) { c.type.forward = nullptr; }) ==
          "node type `fam.node`: it has no `forward`" + mandatory);
    CHECK(refused([](Case& c) { c.type.state_count = [](void*) { return 0u; }; }) ==
          "node type `fam.node`: it has no `state_at`" + mandatory);
    CHECK(refused([](Case& c) { c.type.version = 0; }) ==
          "node type `fam.node`: its version is 0; versions count from 1");
}

TEST_CASE("a schema that is not sound is refused by the field's name") {
    const std::string at = "node type `fam.node`, configuration field `size`: ";
    CHECK(refused_field(field("2size", SOMA_KIND_INT)) ==
          "node type `fam.node`: a configuration field is called `2size`; "
          "expected a letter or `_`, then letters, digits and `_`");
    CHECK(refused([](Case& c) {
              c.fields = {field("size", SOMA_KIND_INT), field("size", SOMA_KIND_INT)};
          }) == "node type `fam.node`: two configuration fields are called `size`");
    CHECK(refused_field(field("size", SOMA_KIND_TENSOR)) ==
          at + "its kind is 9, expected SOMA_KIND_ANY or a number from 2 to 8");
    CHECK(refused_field(field("size", SOMA_KIND_INT, "{")).find(at + "its default is `{`: JSON is not valid at 1:") ==
          0);
    CHECK(refused_field(field("size", SOMA_KIND_INT, "2.5")) == at + "its default: expected int, got float 2.5");
    CHECK(refused_field(field("size", SOMA_KIND_INT, "null")) == "");
    CHECK(refused_field(field("size", SOMA_KIND_FLOAT, "2")) == "");

    soma_config_field made = field("size", SOMA_KIND_INT, "3");
    made.flags = SOMA_CONFIG_REQUIRED;
    CHECK(refused_field(made) == at + "it is required and has the default `3`; a required field has none");
    made = field("size", SOMA_KIND_INT, "3");
    made.choices_json = text("[1, 2]");
    CHECK(refused_field(made) == at + "its default: expected one of 1, 2, got int 3");
    made.choices_json = text("{}");
    CHECK(refused_field(made) == at + "its choices are `{}`, expected a JSON list that is not empty");
    made.choices_json = text("[1, \"2\"]");
    CHECK(refused_field(made) == at + "among its choices: expected int, got string \"2\"");
    made = field("size", SOMA_KIND_INT, "3");
    made.minimum_json = text("4");
    CHECK(refused_field(made) == at + "its default: expected at least 4, got int 3");
    made.maximum_json = text("2");
    CHECK(refused_field(made) == at + "its minimum 4 is greater than its maximum 2");
    made.maximum_json = text("\"many\"");
    CHECK(refused_field(made) == at + "its maximum is `\"many\"`, expected a number");
    made = field("size", SOMA_KIND_INT);
    made.doc = text("\xc3(");
    CHECK(refused_field(made) == at + "its doc is not UTF-8: byte 0xc3 at offset 0");
}

TEST_CASE("ports that are not sound are refused") {
    const auto port = [](const char* name, std::uint32_t kind) {
        return soma_port{sizeof(soma_port), kind, text(name), text("")};
    };
    CHECK(refused([&](Case& c) { c.ports = {port("", SOMA_KIND_ANY)}; }) == "");
    CHECK(refused([&](Case& c) {
              c.ports = {port("a", SOMA_KIND_ANY), port("", SOMA_KIND_ANY)};
          }) == "node type `fam.node`: one of its inputs has no name, and each of several needs one");
    CHECK(refused([&](Case& c) {
              c.ports = {port("a", SOMA_KIND_ANY), port("a", SOMA_KIND_ANY)};
          }) == "node type `fam.node`: two inputs are called `a`");
    CHECK(refused([&](Case& c) { c.ports = {port("a", 12)}; }) ==
          "node type `fam.node`, `a` of its inputs: its kind is 12, expected SOMA_KIND_ANY or a number from 1 to 11");
}

TEST_CASE("an example that is no JSON is refused") {
    CHECK(refused([](Case& c) {
              c.type.example_json = text("[1, 2");
          }).find("node type `fam.node`: its example is `[1, 2`: JSON is not valid at 1:") == 0);
}

TEST_CASE("a type registered twice and a failure passed over refuse the plugin") {
    types = {sound(), sound()};
    CHECK(load() == "node type `fam.node` is registered twice");
    passes_over_failures = true;
    CHECK(load() == "a plugin that is part of the program was refused: node type `fam.node` is registered twice");
    passes_over_failures = false;
}

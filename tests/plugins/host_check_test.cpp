// SPDX-License-Identifier: Apache-2.0
// A host that misbehaves, played by this program: a plugin of the SDK must notice and name it, and never crash.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "soma/abi.h"
#include "support/catch.h"
#include "support/paths.h"

namespace {

constexpr int sample_types = 14; // as listed at the end of support/sample.cpp

const soma_entry& entry() {
    static const soma_entry* const found = [] {
        const auto file = soma::test::test_plugins("sample") / "sample.soma.so";
        void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        INFO((library == nullptr ? dlerror() : ""));
        REQUIRE(library != nullptr);
        void* const symbol = dlsym(library, "soma_plugin_entry");
        REQUIRE(symbol != nullptr);
        return static_cast<const soma_entry*>(symbol);
    }();
    return *found;
}

/// A host of which only the making of a status works, and which keeps the last one.
struct FakeHost {
    static inline std::string said;
    static inline std::uint32_t code = 0;
    static inline int registered = 0;
    static inline bool refuse = false;

    static soma_status* create(soma_host*, std::uint32_t number, soma_string message, soma_status* cause) {
        code = number;
        said.assign(message.data, message.size);
        return cause != nullptr ? cause : reinterpret_cast<soma_status*>(&said);
    }
    static std::uint32_t status_code(soma_host*, const soma_status*) { return SOMA_ALREADY_EXISTS; }
    static soma_string message(soma_host*, const soma_status*) { return SOMA_STR("the name is taken"); }
    static soma_string origin(soma_host*, const soma_status*) { return SOMA_STR("fake"); }
    static void release(soma_host*, soma_status*) {}
    static soma_status* register_node(soma_host*, const soma_node_type* type) {
        if (refuse) return reinterpret_cast<soma_status*>(&said);
        registered += type->struct_size >= sizeof(soma_node_type) ? 1 : 0;
        return nullptr;
    }
    static void unused() {}

    FakeHost() {
        said.clear();
        code = 0;
        registered = 0;
        refuse = false;
        // Every slot filled with something that is no null, then those that this host has.
        const auto filler = &unused;
        for (std::size_t at = offsetof(soma_api, register_node); at < sizeof api; at += sizeof filler) {
            std::memcpy(reinterpret_cast<char*>(&api) + at, &filler, sizeof filler);
        }
        api.struct_size = sizeof api;
        api.abi_major = SOMA_ABI_MAJOR;
        api.abi_minor = SOMA_ABI_MINOR;
        api.host_version = "fake 1";
        api.register_node = &register_node;
        api.status_create = &create;
        api.status_code = &status_code;
        api.status_message = &message;
        api.status_origin = &origin;
        api.status_release = &release;
    }
    ~FakeHost() { entry().shutdown(); }

    soma_status* load() { return entry().register_nodes(&api, host); }

    soma_api api{};
    soma_host* host = reinterpret_cast<soma_host*>(this);
};

} // namespace

TEST_CASE("an SDK plugin registers its nodes with a host that has every function") {
    FakeHost fake;
    CHECK(fake.load() == nullptr);
    CHECK(FakeHost::registered == sample_types);
}

TEST_CASE("an SDK plugin names the function that a host lacks") {
    FakeHost fake;
    fake.api.op_call = nullptr;
    REQUIRE(fake.load() != nullptr);
    CHECK(FakeHost::said.find("the host lacks the function `op_call`, which this plugin needs (host ABI ") == 0);
    CHECK(FakeHost::code == SOMA_FAILED_PRECONDITION);
    CHECK(FakeHost::registered == 0);
}

TEST_CASE("an SDK plugin takes a function beyond the host's struct_size for absent") {
    FakeHost fake;
    fake.api.struct_size = offsetof(soma_api, make_generator);
    REQUIRE(fake.load() != nullptr);
    CHECK(FakeHost::said.find("`make_generator`") != std::string::npos);
}

TEST_CASE("an SDK plugin loads in a host whose table is longer than it knows") {
    struct {
        soma_api api;
        void* more[4];
    } longer{};
    FakeHost fake;
    longer.api = fake.api;
    longer.api.struct_size = sizeof longer;
    CHECK(entry().register_nodes(&longer.api, fake.host) == nullptr);
    CHECK(FakeHost::registered == sample_types);
}

TEST_CASE("an SDK plugin refuses a host of another major version by both numbers") {
    FakeHost fake;
    fake.api.abi_major = SOMA_ABI_MAJOR + 7;
    REQUIRE(fake.load() != nullptr);
    CHECK(FakeHost::said == "the host speaks ABI major " + std::to_string(SOMA_ABI_MAJOR + 7) +
                                ", the plugin was built for " + std::to_string(SOMA_ABI_MAJOR));
}

TEST_CASE("an SDK plugin survives a host that gives it nothing") {
    FakeHost fake;
    REQUIRE(entry().register_nodes(&fake.api, nullptr) != nullptr);
    CHECK(FakeHost::said == "the host gave the plugin no handle");
    CHECK(entry().register_nodes(nullptr, fake.host) == nullptr);
    CHECK(FakeHost::registered == 0);
}

TEST_CASE("an SDK plugin hands a refused registration back to the host") {
    FakeHost fake;
    FakeHost::refuse = true;
    CHECK(fake.load() == reinterpret_cast<soma_status*>(&FakeHost::said));
}

TEST_CASE("an SDK plugin notices a host that calls a node without what it needs") {
    FakeHost fake;
    static const soma_node_type* type = nullptr;
    fake.api.register_node = [](soma_host*, const soma_node_type* each) -> soma_status* {
        if (each->name.size == 10 && std::memcmp(each->name.data, "sample.ctx", 10) == 0) type = each;
        return nullptr;
    };
    REQUIRE(fake.load() == nullptr);
    REQUIRE(type != nullptr);
    void* self = nullptr;
    CHECK(type->create(fake.host, nullptr, &self) != nullptr);
    CHECK(FakeHost::said == "the host called `sample.ctx` to create a node without a configuration");
    CHECK(FakeHost::code == SOMA_INTERNAL);
    CHECK(self == nullptr);
    soma_outcome outcome{};
    outcome.struct_size = sizeof outcome;
    CHECK(type->forward(nullptr, nullptr, nullptr, &outcome) != nullptr);
    CHECK(FakeHost::said == "the host called `sample.ctx` without a node or a context");
}

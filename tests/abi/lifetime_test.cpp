// SPDX-License-Identifier: Apache-2.0
// When a plugin goes: after everything that came out of it, and never below its own code.
#include <string>
#include <thread>

#include <dlfcn.h>

#include "abi/support.h"
#include "soma/error.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;
using namespace soma::test;

namespace {

// Whether the library is mapped into the process.
bool is_mapped(const std::string& name) {
    const std::string path = (test_plugins(name) / (name + ".soma.so")).string();
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) return false;
    dlclose(handle);
    return true;
}

const std::string last_word = "info misuse: shut down";

} // namespace

TEST_CASE("a plugin is shut down once and unloaded when its last owner goes") {
    Log log;
    auto catalog = std::make_unique<Catalog>(catalog_of("misuse"));
    auto node = make(*catalog, "misuse.call");
    auto type = catalog->get("misuse.state");
    catalog.reset();
    CHECK(log.lines.empty());
    node.reset();
    CHECK(log.lines.empty());
    CHECK(is_mapped("misuse"));
    type.reset();
    REQUIRE(log.lines.size() == 1);
    CHECK(log.lines[0] == last_word);
    CHECK_FALSE(is_mapped("misuse"));
}

TEST_CASE("two catalogs share one plugin and its end comes with the second") {
    Log log;
    auto one = std::make_unique<Catalog>(catalog_of("misuse"));
    auto two = std::make_unique<Catalog>(catalog_of("misuse"));
    CHECK(one->plugins().front() == two->plugins().front());
    one.reset();
    CHECK(log.lines.empty());
    CHECK_FALSE(make(*two, "misuse.call") == nullptr);
    two.reset();
    CHECK(log.lines.size() == 1);
    // Loaded anew it begins anew.
    CHECK(run(*make(catalog_of("misuse"), "misuse.telling")).find("id")->as_string() == "n1");
    CHECK(log.lines.size() == 2);
}

TEST_CASE("a plugin whose last value dies inside another plugin is unloaded after that") {
    auto payload = std::make_unique<Value>();
    {
        const Catalog newer = catalog_of("newer");
        *payload = run(*make(newer, "newer.payload"));
    }
    CHECK(is_mapped("newer"));
    const Catalog catalog = catalog_of("values");
    Value box = run(*make(catalog, "values.box"), *payload);
    payload.reset();
    CHECK(is_mapped("newer"));
    box = Value();
    CHECK_FALSE(is_mapped("newer"));
}

TEST_CASE("a plugin that refused itself is unloaded and is not shut down") {
    Catalog catalog;
    catalog.load_directory(test_plugins("refuses"));
    REQUIRE(catalog.refusals().size() == 1);
    CHECK_FALSE(is_mapped("refuses"));
    CHECK(catalog.plugins().empty());
}

TEST_CASE("loading and dropping one plugin from many threads at once is safe") {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                const Catalog catalog = catalog_of("values");
                if (run(*make(catalog, "values.copy"), i).as_int() != i) ++wrong;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("values made on one thread and freed on others are all freed") {
    const Catalog catalog = catalog_of("values");
    std::vector<Value> values;
    for (int i = 0; i < 20'000; ++i) values.emplace_back(i);
    const auto box = make(catalog, "values.box");
    for (int i = 0; i < 100; ++i) values.push_back(run(*box, values[static_cast<std::size_t>(i)]));
    std::thread([taken = std::move(values)]() mutable { taken.clear(); }).join();
    CHECK(run(*make(catalog, "values.boxes")).as_int() == 0);
}

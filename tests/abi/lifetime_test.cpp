// SPDX-License-Identifier: Apache-2.0
// When a plugin goes: after everything that came out of it, and never below its own code.
#include <chrono>
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

TEST_CASE("a node that runs keeps its plugin when all else of it is gone") {
    std::atomic<bool> running{false};
    std::atomic<bool> shut_down{false};
    // The lines of `Log` are for one thread at a time.
    const Log levels;
    set_log_sink([&](const LogLine& line) {
        if (line.text == "running") running = true;
        if (line.text == "shut down") shut_down = true;
    });
    std::atomic<std::uint32_t> stop{0};
    Value result;
    auto catalog = std::make_unique<Catalog>(catalog_of("flight"));
    std::thread thread([&, node = make(*catalog, "flight.wait")]() mutable {
        detail::RunContext context{};
        context.stop = &stop;
        result = run(*node, Value(), context);
        // The last owner of anything of the plugin goes here, after its code was left.
        node.reset();
    });
    while (!running) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    catalog.reset();
    CHECK(is_mapped("flight"));
    CHECK_FALSE(shut_down);
    stop = 1;
    thread.join();
    CHECK(result == Value("ran to its end"));
    CHECK(shut_down);
    CHECK_FALSE(is_mapped("flight"));
}

TEST_CASE("a plugin's own thread ends in its shutdown and before its code goes") {
    Log log;
    { const Catalog catalog = catalog_of("flight"); }
    CHECK(log.lines == std::vector<std::string>{"info flight: the thread has ended", "info flight: shut down"});
    CHECK_FALSE(is_mapped("flight"));
}

TEST_CASE("a payload that is given up on another thread runs its plugin's code there before that goes") {
    Log log;
    Value payload = run(*make(catalog_of("flight"), "flight.box"));
    CHECK(log.lines.empty());
    CHECK(is_mapped("flight"));
    std::thread([taken = std::move(payload)]() mutable { taken = Value(); }).join();
    CHECK(log.lines == std::vector<std::string>{"info flight: the payload is gone", "info flight: the thread has ended",
                                                "info flight: shut down"});
    CHECK_FALSE(is_mapped("flight"));
}

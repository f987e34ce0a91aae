// SPDX-License-Identifier: Apache-2.0
// What a plugin's definition in the SDK may say beyond its name.
#include <vector>

#include "soma/catalog.h"
#include "soma/error.h"
#include "soma/log.h"
#include "soma/pipeline.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;

namespace {

std::filesystem::path file(const std::string& name) { return test::test_plugins(name) / (name + ".soma.so"); }

/// What is logged while it lives.
class Logged {
public:
    Logged() {
        set_log_sink([this](const LogLine& line) {
            lines_.push_back(std::string{line.origin} + ": " + std::string{line.text});
        });
    }
    Logged(const Logged&) = delete;
    Logged& operator=(const Logged&) = delete;
    ~Logged() { set_log_sink({}); }
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    std::vector<std::string> lines_;
};

} // namespace

TEST_CASE("a plugin's shutdown runs once at its end and may still speak to the host") {
    const Logged logged;
    {
        Catalog catalog;
        catalog.load_file(file("ending"));
        CHECK(somatize("ending.works", catalog).run(5) == Value{5});
        CHECK(logged.lines().empty());
    }
    CHECK(logged.lines() == std::vector<std::string>{"ending: its thread is joined"});
}

TEST_CASE("a plugin's shutdown that throws is told and harms nothing") {
    const Logged logged;
    {
        Catalog catalog;
        catalog.load_file(file("ending"));
    }
    CHECK(logged.lines() == std::vector<std::string>{"ending: its shutdown failed: there is no thread to join"});
}

TEST_CASE("a plugin that requires features this host lacks is refused by their names") {
    Catalog catalog;
    try {
        catalog.load_file(file("needy"));
        FAIL("it was loaded");
    } catch (const PluginError& error) {
        const std::string message = error.what();
        INFO(message);
        CHECK(message.find("it requires features that this host does not know: bit 41 (`time travel`), bit 63 "
                           "(`wishes`); update somatize, or get the plugin built without them") != std::string::npos);
    }
}

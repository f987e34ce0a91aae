// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include "soma/catalog.h"
#include "soma/log.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;
namespace fs = std::filesystem;

TEST_CASE("plugins are looked for where they were told then in the environment then at home then beside the library") {
    const test::TemporaryFolder folder;
    const fs::path root = folder.path();
    for (const char* name : {"one", "two", "data/somatize/plugins", "home/.local/share/somatize/plugins"}) {
        fs::create_directories(root / name);
    }
    const fs::path given = "given/as/it/is";
    const std::string listed =
        (root / "one").string() + "::" + (root / "none").string() + ":" + (root / "two").string() + ":";
    setenv("SOMATIZE_PLUGIN_PATH", listed.c_str(), 1);
    setenv("XDG_DATA_HOME", (root / "data").c_str(), 1);
    setenv("HOME", (root / "home").c_str(), 1);
    const fs::path shipped = test::shipped_plugins();
    fs::create_directories(shipped);
    CHECK(plugin_search_path({&given, 1}) ==
          std::vector<fs::path>{given, root / "one", root / "two", root / "data/somatize/plugins", shipped});
    unsetenv("XDG_DATA_HOME");
    CHECK(plugin_search_path() ==
          std::vector<fs::path>{root / "one", root / "two", root / "home/.local/share/somatize/plugins", shipped});
    unsetenv("HOME");
    unsetenv("SOMATIZE_PLUGIN_PATH");
    CHECK(plugin_search_path() == std::vector<fs::path>{shipped});
}

TEST_CASE("the current directory is never searched whatever the environment says") {
    std::string told;
    set_log_sink([&](const LogLine& line) { told = line.text; });
    setenv("SOMATIZE_PLUGIN_PATH", ":.:", 1);
    setenv("XDG_DATA_HOME", ".", 1);
    unsetenv("HOME");
    CHECK(plugin_search_path() == std::vector<fs::path>{test::shipped_plugins()});
    set_log_sink({});
    CHECK(told == "`.` in SOMATIZE_PLUGIN_PATH is left out, for it is not an absolute path");
}

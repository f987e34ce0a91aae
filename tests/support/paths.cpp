// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

#include <cstdlib>
#include <string>
#include <system_error>

namespace soma::test {

namespace fs = std::filesystem;

fs::path source_dir() { return SOMA_SOURCE_DIR; }
fs::path program() { return SOMA_PROGRAM; }
fs::path shipped_plugins() { return SOMA_SHIPPED_PLUGINS; }
fs::path test_plugins(const fs::path& folder) { return fs::path{SOMA_TEST_PLUGINS} / folder; }

TemporaryFolder::TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "somatize-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error{errno, std::generic_category(), "cannot make a temporary folder"};
    }
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

} // namespace soma::test

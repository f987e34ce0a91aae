// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

/// Where a test finds what was built, and what it reads.
namespace soma::test {

/// The root of the source tree.
std::filesystem::path source_dir();
/// The program `somatize`.
std::filesystem::path program();
/// The folder of the plugins that ship with the project.
std::filesystem::path shipped_plugins();
/// The folder that soma_add_test_plugin(NAME n) puts `n.soma.so` into; `folder` is n, or what FOLDER said.
std::filesystem::path test_plugins(const std::filesystem::path& folder);

/// A new empty folder that is removed, with what is in it, at the end of its scope.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace soma::test

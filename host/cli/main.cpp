// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <string>

#include "soma/version.h"

int main(int argc, char** argv) {
    CLI::App app{"Runs graphs of plugin nodes, each where it is told."};
    app.set_version_flag("--version", std::string{soma::version()});
    CLI11_PARSE(app, argc, argv);
    return 0;
}

#!/bin/sh
# Builds the plugin and tests it: for a CI service to call, and for you. It takes CMake, a compiler and an installed
# Somatize; one that is not in the system's own folders is named by CMAKE_PREFIX_PATH in the environment.
set -eu
cd "$(dirname "$0")"
cmake -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build
ctest --test-dir build --output-on-failure --no-tests=error

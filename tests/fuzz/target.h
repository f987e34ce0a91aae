// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// A fuzz target is one file that defines these three.
namespace soma::test {

/// Sound inputs to start from.
std::vector<std::string> seeds();
/// What to sprinkle over them.
std::vector<std::string> words();
/// Tries one input: aborts when a promise is broken.
void try_input(std::string_view input);

} // namespace soma::test

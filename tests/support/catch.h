// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Catch2, whichever the system has: 2 is one header, 3 a folder of them. Tests include this and nothing of Catch's own.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string_view>

/// Ends the running test case and reports it as skipped, with the reason. A case that fails before it skips, or in
/// another section, is reported as failed. Call it on the test's own thread.
[[noreturn]] void soma_skip(std::string_view why);

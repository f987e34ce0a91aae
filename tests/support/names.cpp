// SPDX-License-Identifier: Apache-2.0
// What a test's name may hold. Each of these must reach ctest whole and select itself.
#include "support/catch.h"

TEST_CASE("a name may hold `code` and (what it needs)") { SUCCEED(); }
TEST_CASE("a name may hold a | b >> c and 100% or $HOME or #1") { SUCCEED(); }
TEST_CASE("a name may hold 'quotes' and: colons? and {braces} and ~ and = and *") { SUCCEED(); }

// SPDX-License-Identifier: Apache-2.0
// Run case by case by outcomes.cmake, which knows how each must end.
#include "support/catch.h"

TEST_CASE("passes") { CHECK(1 + 1 == 2); }

TEST_CASE("skips") {
    soma_skip("there is no such device");
    FAIL("a skip ends the case");
}

TEST_CASE("skips in one section and fails in the next") {
    SECTION("first") { soma_skip("not here"); }
    SECTION("second") { CHECK(1 + 1 == 3); }
}

TEST_CASE("fails and then skips") {
    CHECK(1 + 1 == 3);
    soma_skip("too late");
}

TEST_CASE("fails four times") {
    for (int i = 0; i < 4; ++i) CHECK(i < 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "soma/version.h"

#include <algorithm>
#include <string>

#include "support/catch.h"

TEST_CASE("the version is three numbers with points between") {
    const std::string version{soma::version()};
    CHECK(std::count(version.begin(), version.end(), '.') == 2);
    CHECK(version.find_first_not_of("0123456789.") == std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "support/catch.h"

#include <iostream>
#include <string>

namespace {

std::string& skip_reason() {
    static std::string reason;
    return reason;
}

} // namespace

void soma_skip(std::string_view why) {
    skip_reason() = why.empty() ? "no reason given" : std::string{why};
    // Each of these ends the test case without a failed assertion, which is all that either version counts.
#if __has_include(<catch2/catch_all.hpp>)
    Catch::throw_test_skip_exception();
#else
    throw Catch::TestFailureException{};
#endif
}

int main(int argc, char** argv) {
    const int result = Catch::Session().run(argc, argv);
    // Catch2 2 knows no skipping, and in version 3 four failures end with the number that means "all skipped". So what
    // ctest looks for is printed here, at the end, and only when nothing failed.
    if (!skip_reason().empty() && result == 0) std::cout << "soma-test skipped: " << skip_reason() << std::endl;
    return result;
}

// SPDX-License-Identifier: Apache-2.0
// JSON: whatever it is, it is read or refused by name, and what was read is written so that it reads the same again.
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/placement.h"

using namespace soma;

std::vector<std::string> soma::test::seeds() {
    return {R"({"encoder": "cuda:0", "other": "cpu"})",
            R"([1, -2, 3.5e-7, 9223372036854775807, 1e400, true, null, "é\n"])",
            R"({"a": {"b": [[], {}, [0.1]]}, "tensor": [[1, 2], [3, 4]], "dtype": "float32"})"};
}

std::vector<std::string> soma::test::words() {
    return {"{",          "}",
            "[",          "]",
            ",",          ":",
            "\"",         "\\",
            "\\u0000",    "\\ud83d\\ude00",
            "1",          "-0.0",
            "1e-320",     "18446744073709551616",
            "null",       "true",
            "\"cuda:0\"", "\"a\":",
            "\xc3\xa9",   "\xf5"};
}

void soma::test::try_input(std::string_view text) {
    try {
        try {
            static_cast<void>(Placement::from_json(text));
        } catch (const PlacementError&) {
        } catch (const DeviceError&) {
        }
        const std::string written = to_json(parse_json(text));
        if (to_json(parse_json(written)) == written) return;
        std::fprintf(stderr, "written as another value:\n%s\n", written.c_str());
    } catch (const ValueError&) {
        return;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "refused without a name: %s\n", error.what());
    }
    std::abort();
}

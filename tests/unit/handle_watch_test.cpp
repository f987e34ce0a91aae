// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <vector>

#include "soma/detail/handle_watch.h"
#include "soma/detail/status.h"
#include "soma/value.h"
#include "support/catch.h"

using namespace soma;
using detail::HandleWatch;

TEST_CASE("a watch knows the handles made since it began and not freed") {
    const Value before = "made before";
    const HandleWatch watch;
    CHECK(HandleWatch::left().handles.empty());
    Value text = "text";
    Value list = Value::list({1, 2, text});
    CHECK(HandleWatch::left().handles ==
          std::map<std::uint32_t, std::size_t>{{SOMA_KIND_INT, 2}, {SOMA_KIND_STRING, 1}, {SOMA_KIND_LIST, 1}});
    list = Value();
    CHECK(HandleWatch::left().handles == std::map<std::uint32_t, std::size_t>{{SOMA_KIND_STRING, 1}});
    text = Value();
    CHECK(HandleWatch::left().handles.empty());
}

TEST_CASE("a watch knows of handles whichever thread makes and frees them") {
    const HandleWatch watch;
    std::vector<Value> made;
    std::thread([&] {
        for (int i = 0; i < 300; ++i) made.emplace_back(i);
    }).join();
    CHECK(HandleWatch::left().handles == std::map<std::uint32_t, std::size_t>{{SOMA_KIND_INT, 300}});
    std::thread([&] { made.clear(); }).join();
    CHECK(HandleWatch::left().handles.empty());
}

TEST_CASE("a watch knows statuses with what caused them") {
    const HandleWatch watch;
    soma_status* cause = detail::make_status(SOMA_UNKNOWN, "the cause");
    soma_status* status = detail::make_status(SOMA_UNKNOWN, "it failed", "host", cause);
    CHECK(HandleWatch::left().statuses == 2);
    detail::release_status(status);
    CHECK(HandleWatch::left().statuses == 0);
}

TEST_CASE("a watch begins anew") {
    Value made;
    {
        const HandleWatch watch;
        made = "left";
        CHECK(HandleWatch::left().handles.size() == 1);
    }
    const HandleWatch watch;
    CHECK(HandleWatch::left().handles.empty());
    made = Value();
    CHECK(HandleWatch::left().handles.empty());
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soma/catalog.h"
#include "soma/detail/run_context.h"
#include "soma/instance.h"
#include "soma/log.h"

namespace soma::test {

/// A catalog with the test plugin `name` in it.
Catalog catalog_of(std::string_view name);

/// A node of the type, unplaced unless told otherwise.
std::shared_ptr<Instance> make(const Catalog& catalog, std::string_view type, const Value& config = {},
                               std::optional<Device> device = {}, std::uint64_t seed = 0);

/// One `forward`, as the executor calls it but nothing else of what it does. Throws `ValueError` with the whole message of
/// the failure.
Value run(Instance& node, const Value& input = {}, detail::RunContext context = {});

/// What the call throws, as text; empty when it throws nothing.
template <class Error, class Call>
std::string thrown(Call&& call) {
    try {
        std::forward<Call>(call)();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

/// Keeps what is logged while it lives: "level origin node: text".
class Log {
public:
    Log();
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    std::vector<std::string> lines;

private:
    LogLevel level_;
};

} // namespace soma::test

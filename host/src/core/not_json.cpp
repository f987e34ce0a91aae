// SPDX-License-Identifier: Apache-2.0
#include "core/not_json.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/json_depth.h"

namespace soma::detail {

std::optional<std::string> not_json(const Value& value) {
    struct Item {
        const Value* value;
        std::size_t depth;
    };
    std::vector<Item> todo{{&value, 0}};
    while (!todo.empty()) {
        const Item item = todo.back();
        todo.pop_back();
        switch (item.value->kind()) {
        case Kind::none:
        case Kind::boolean:
        case Kind::integer:
        case Kind::string: break;
        case Kind::real:
            if (!std::isfinite(item.value->as_float())) return "a float that is not finite";
            break;
        case Kind::list:
        case Kind::dict:
            if (item.depth == deepest_json) return "lists nested too deep";
            for (std::size_t i = 0; i < item.value->size(); ++i) todo.push_back({&item.value->at(i), item.depth + 1});
            break;
        case Kind::bytes: return "bytes";
        default: return fmt::format("a value of kind {}", to_string(item.value->kind()));
        }
    }
    return std::nullopt;
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "plugin/staging.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/status_guard.h"
#include "plugin/api.h"
#include "plugin/api_check.h"
#include "plugin/structs.h"
#include "soma/error.h"

namespace soma::detail {

soma_status* Staging::add(const soma_node_type& type) {
    const auto refuse = [this](std::uint32_t code, const std::string& why) {
        if (!failure_) failure_ = why;
        return api::fail(code, "register_node", why);
    };
    const std::lock_guard lock(mutex_);
    try {
        NodeType checked = checked_type(type);
        names_.push_back(checked.name);
        const bool twice = std::any_of(types_.begin(), types_.end(),
                                       [&](const NodeType& other) { return other.name == checked.name; });
        if (twice) {
            return refuse(SOMA_ALREADY_EXISTS, fmt::format("node type `{}` is registered twice", checked.name));
        }
        types_.push_back(std::move(checked));
        return nullptr;
    } catch (const PluginError& error) {
        return refuse(SOMA_INVALID_ARGUMENT, error.what());
    } catch (const std::exception& error) {
        if (!failure_) failure_ = error.what();
        throw;
    }
}

std::optional<std::string> Staging::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

std::vector<NodeType> Staging::take() {
    const std::lock_guard lock(mutex_);
    return std::move(types_);
}

std::vector<std::string> Staging::names() const {
    const std::lock_guard lock(mutex_);
    return names_;
}

soma_status* api::register_node(soma_host* host, const soma_node_type* type) {
    if (!is_live(host)) return wrong_host(host, "register_node");
    if (type == nullptr) return null_pointer("register_node", "type");
    Staging* staging = host->staging.load(std::memory_order_acquire);
    if (staging == nullptr) {
        return fail(SOMA_FAILED_PRECONDITION, "register_node",
                    "it was called outside `register_nodes`; a plugin gives all its node types there");
    }
    return guarded("register_node", [&] { return staging->add(*type); });
}

} // namespace soma::detail

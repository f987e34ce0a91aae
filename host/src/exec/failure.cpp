// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "soma/detail/status.h"
#include "soma/plugin.h"

namespace soma::exec {

std::string misplaced_message(const BoundNode& node, const Misplaced& misplaced) {
    std::string text = fmt::format("node `{}` failed: it declared `{}` but returned a value on `{}`",
                                   node.instance->id(), node.device_text, misplaced.found);
    if (!misplaced.path.empty()) text += fmt::format(" (at `{}`)", misplaced.path);
    return text;
}

std::string status_message(const BoundNode& node, soma_status* status) {
    const std::uint32_t code = detail::status_code(status);
    const std::string message = detail::full_message(status);
    detail::release_status(status);
    // The host's own refusal already says all there is to say.
    if (code == SOMA_FAILED_PRECONDITION &&
        message.find(" would modify its input in place while ") != std::string::npos) {
        return fmt::format("node `{}` failed: {}", node.instance->id(), message);
    }
    if (code == SOMA_WRONG_DEVICE) {
        return fmt::format("node `{}` failed: {} (its ctx.device was {}; plugin `{}`)", node.instance->id(), message,
                           node.placed ? '`' + node.device_text + '`' : "not set", node.instance->type().plugin->name);
    }
    return wrong_message(node, message);
}

std::string wrong_message(const BoundNode& node, const std::string& what) {
    return fmt::format("node `{}` failed: {} (plugin `{}`)", node.instance->id(), what,
                       node.instance->type().plugin->name);
}

std::string modified_message(const std::vector<std::string>& readers) {
    return fmt::format("one of `{}` modified in place the value they share", fmt::join(readers, "`, `"));
}

} // namespace soma::exec

// SPDX-License-Identifier: Apache-2.0
#include "abi/support.h"

#include "soma/detail/status.h"
#include "soma/error.h"
#include "support/paths.h"

namespace soma::test {

Catalog catalog_of(std::string_view name) {
    Catalog catalog;
    catalog.load_file(test_plugins(name) / (std::string(name) + ".soma.so"));
    return catalog;
}

std::shared_ptr<Instance> make(const Catalog& catalog, std::string_view type, const Value& config,
                               std::optional<Device> device, std::uint64_t seed) {
    return Instance::create(catalog.get(type), "n1", config, device, seed);
}

Value run(Instance& node, const Value& input, detail::RunContext context) {
    context.ctx.struct_size = sizeof context.ctx;
    context.ctx.node_id = {node.id().c_str(), node.id().size()};
    context.magic = detail::run_context_magic;
    soma_outcome outcome{sizeof(soma_outcome), SOMA_OUTCOME_DONE, nullptr, nullptr};
    soma_status* status = node.type().functions.forward(node.self(), &context.ctx, input.handle(), &outcome);
    if (status == nullptr) return Value::adopt(outcome.value);
    const std::string message = detail::full_message(status);
    detail::release_status(status);
    throw ValueError(message);
}

Log::Log() : level_(log_level()) {
    set_log_level(LogLevel::debug);
    set_log_sink([this](const LogLine& line) {
        static const char* const names[] = {"debug", "info", "warning", "error"};
        std::string text = names[static_cast<unsigned>(line.level)];
        text.append(" ").append(line.origin);
        if (!line.node.empty()) text.append(" ").append(line.node);
        lines.push_back(text.append(": ").append(line.text));
    });
}

Log::~Log() {
    set_log_sink({});
    set_log_level(level_);
}

} // namespace soma::test

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "soma/error.h"
#include "soma/json.h"
#include "verify/checks.h"
#include "verify/configs.h"

namespace soma::cli::verify {

namespace {

constexpr std::uint64_t known_flags =
    SOMA_NODE_REENTRANT | SOMA_NODE_DIFFERENTIABLE | SOMA_NODE_NOT_SMOOTH | SOMA_NODE_RANDOM;

bool is_blank(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; });
}

/// The kind of a value as JSON has it: a tensor is a dict with the key `tensor`.
Kind kind_in_json(const Value& value) {
    return value.find("tensor") != nullptr && value.kind() == Kind::dict ? Kind::tensor : value.kind();
}

bool fits(const Port& port, const Value& value) {
    const Kind kind = kind_in_json(value);
    return !port.kind || *port.kind == kind || (*port.kind == Kind::real && kind == Kind::integer);
}

/// What is wrong with the example; empty when nothing is.
std::string wrong_example(const NodeType& type) {
    const Value example = parse_json(type.example_json);
    if (type.inputs.empty()) return {};
    if (type.inputs.size() == 1) {
        const Port& port = type.inputs.front();
        if (fits(port, example)) return {};
        return fmt::format("its example is a {}, and its input `{}` is a {}", to_string(kind_in_json(example)),
                           port.name, to_string(*port.kind));
    }
    if (example.kind() != Kind::dict) return {}; // what branches give may come as a list
    for (const Port& port : type.inputs) {
        const Value* value = example.find(port.name);
        if (value == nullptr) return fmt::format("its example lacks its input `{}`", port.name);
        if (!fits(port, *value)) {
            return fmt::format("`{}` of its example is a {}, and that input is a {}", port.name,
                               to_string(kind_in_json(*value)), to_string(*port.kind));
        }
    }
    return {};
}

void check_field(const ConfigField& field, std::vector<std::string>& wrong) {
    if (is_blank(field.doc)) wrong.push_back(fmt::format("its configuration field `{}` has no doc", field.name));
    const bool number = !field.kind || field.kind == Kind::integer || field.kind == Kind::real;
    if ((field.minimum || field.maximum) && !number) {
        wrong.push_back(
            fmt::format("its configuration field `{}` is a {} and has bounds", field.name, to_string(*field.kind)));
    }
}

/// What is made there costs no memory; where there is no tensor library there is no such place.
std::optional<Device> cheapest(const Subject& subject) {
    if (subject.machine().engine == nullptr) return std::nullopt;
    return Device(DeviceKind::meta);
}

} // namespace

Outcome check_description(Subject& subject) {
    const NodeType& type = subject.type();
    std::vector<std::string> wrong;
    if (is_blank(type.doc.substr(0, type.doc.find('\n'))))
        wrong.emplace_back("it has no doc: say in one sentence what it does");
    for (const ConfigField& field : type.config) check_field(field, wrong);
    if ((type.flags & ~known_flags) != 0) {
        wrong.push_back(fmt::format("it has flags that mean nothing: {:#x}", type.flags & ~known_flags));
    }
    if (type.has(SOMA_NODE_NOT_SMOOTH) && !type.has(SOMA_NODE_DIFFERENTIABLE)) {
        wrong.emplace_back("it says SOMA_NODE_NOT_SMOOTH and not SOMA_NODE_DIFFERENTIABLE");
    }
    if (type.functions.backward != nullptr && !type.has(SOMA_NODE_DIFFERENTIABLE)) {
        wrong.emplace_back("it has a `backward` and does not say SOMA_NODE_DIFFERENTIABLE");
    }
    if (!type.example_json.empty()) {
        if (std::string example = wrong_example(type); !example.empty()) wrong.push_back(std::move(example));
    }
    if (!wrong.empty()) return Outcome::fail(fmt::format("{}", fmt::join(wrong, "; ")));
    return Outcome::pass();
}

Outcome check_defaults(Subject& subject) {
    std::vector<std::int64_t> sizes;
    const std::vector<Input> inputs = inputs_for(subject.type());
    if (!inputs.empty() && inputs.front().declared()) sizes = inputs.front().sizes();
    std::string first;
    for (Value& config : base_configs(subject.type(), sizes)) {
        try {
            subject.create(config, std::nullopt);
        } catch (const Error& error) {
            if (first.empty()) first = error.what();
            continue;
        }
        const bool defaults = config.size() == 0;
        std::string made = defaults ? "" : "with " + to_json(config);
        subject.set_config(std::move(config));
        return Outcome::pass(std::move(made));
    }
    const std::string& absent = subject.machine().no_engine;
    if (!absent.empty() && first.find("tensors are needed, but") != std::string::npos) {
        return Outcome::not_checked("it needs tensors: " + absent);
    }
    return Outcome::fail(std::move(first));
}

Outcome check_configurations(Subject& subject) {
    const std::vector<Variant> all = variants(subject.type(), subject.config());
    std::string refused;
    std::size_t made = 0;
    for (const Variant& variant : all) {
        // What the schema promises is made as it will be; the greatest sizes where they cost nothing.
        const auto device = variant.promised ? std::nullopt : cheapest(subject);
        try {
            subject.create(variant.config, device, variant.what);
            ++made;
        } catch (const Error& error) {
            if (variant.promised) {
                return Outcome::fail(
                    fmt::format("{}, which its schema allows, is refused: {}", variant.what, error.what()));
            }
            if (refused.empty()) refused = fmt::format("; {} is refused: {}", variant.what, error.what());
        }
    }
    if (all.empty()) return Outcome::pass("its schema leaves nothing to choose");
    return Outcome::pass(fmt::format("{} of {} made{}", made, all.size(), refused));
}

Outcome check_wrong_configuration(Subject& subject) {
    const std::vector<Variant> wrong = refused_variants(subject.type(), subject.config());
    for (const Variant& variant : wrong) {
        try {
            subject.create(variant.config, std::nullopt, variant.what);
        } catch (const Error&) {
            continue;
        }
        return Outcome::fail(fmt::format("{} is taken, and ought to be an error", variant.what));
    }
    std::size_t taken = 0;
    const std::vector<Variant> odd = odd_variants(subject.type(), subject.config());
    for (const Variant& variant : odd) {
        try {
            subject.create(variant.config, cheapest(subject), variant.what);
            ++taken;
        } catch (const NodeError&) {
            // Its own to refuse.
        }
    }
    std::string text = fmt::format("{} refused", wrong.size());
    if (!odd.empty()) text += fmt::format("; of {} odd ones {} taken", odd.size(), taken);
    return Outcome::pass(std::move(text));
}

} // namespace soma::cli::verify

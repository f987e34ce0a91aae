// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <fmt/format.h>
#include <span>
#include <stdexcept>

#include "arguments.h"
#include "files.h"
#include "soma/error.h"
#include "soma/json.h"

namespace soma::cli {

namespace {

Value text_or_json(const std::string& text, const std::string& said) {
    Value value;
    try {
        value = parse_json(text);
    } catch (const ValueError&) {
        return text;
    }
    try {
        return tensors_from_json(value);
    } catch (const ValueError& error) {
        throw UsageError(fmt::format("{}: {}", said, error.what()));
    } catch (const DeviceError& error) {
        throw UsageError(fmt::format("{}: {}", said, error.what()));
    }
}

std::string read(const std::string& name) {
    try {
        return name == "-" ? read_standard_input(most_of_an_input) : read_file(name, most_of_an_input);
    } catch (const std::runtime_error& failure) {
        throw UsageError(fmt::format("--in @{}: {}", name, failure.what()));
    }
}

} // namespace

Value read_input(const std::string& argument) {
    if (argument.starts_with("@@")) return argument.substr(1);
    if (!argument.starts_with('@')) {
        try {
            return text_or_json(argument, "--in");
        } catch (const ValueError& error) {
            throw UsageError(fmt::format("--in: {}; `--in @FILE` reads bytes from a file", error.what()));
        }
    }
    const std::string held = read(argument.substr(1));
    try {
        return text_or_json(held, fmt::format("--in {}", argument));
    } catch (const ValueError&) {
        return Value::bytes(std::as_bytes(std::span(held)));
    }
}

} // namespace soma::cli

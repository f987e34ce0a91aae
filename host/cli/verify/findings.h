// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/value.h"

namespace soma::cli::verify {

enum class Verdict { pass, fail, not_checked };

/// "pass", "FAIL", "not checked".
std::string_view to_string(Verdict verdict) noexcept;

/// What came of one check.
struct Outcome {
    Verdict verdict = Verdict::pass;
    std::string detail; ///< why; of a pass, what was looked at; may be empty

    static Outcome pass(std::string detail = {}) { return {Verdict::pass, std::move(detail)}; }
    static Outcome fail(std::string why) { return {Verdict::fail, std::move(why)}; }
    static Outcome not_checked(std::string why) { return {Verdict::not_checked, std::move(why)}; }
};

/// A check of a node type, or of the plugin as a whole, which has no node.
struct Row {
    std::string node;
    std::string check;
    Outcome outcome;
};

/// What is known of a plugin so far. The child gets a copy when it starts, and goes on where the one before it ended.
struct Findings {
    std::string file;
    std::string plugin;               ///< its name; empty as long as it was never loaded
    std::string version;              ///< its own
    std::string refusal;              ///< why it was refused; empty when it was not
    std::string engine;               ///< "libtorch 1.13.1"; empty when there is none
    std::vector<std::string> devices; ///< of CUDA, simulated or not
    bool simulated = false;
    std::vector<Row> rows;
    /// The configuration a node type is checked with, by its name.
    std::vector<std::pair<std::string, Value>> configs;

    [[nodiscard]] const Outcome* find(std::string_view node, std::string_view check) const noexcept;
    /// Adds a row, or replaces what was found before.
    void set(Row row);
    [[nodiscard]] std::optional<Value> config(std::string_view node) const;
    void set_config(std::string_view node, Value config);
    [[nodiscard]] std::size_t count(Verdict verdict) const noexcept;
};

} // namespace soma::cli::verify

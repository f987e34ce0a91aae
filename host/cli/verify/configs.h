// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "soma/node_type.h"
#include "soma/value.h"

namespace soma::cli::verify {

/// Configurations of what a node type requires and nothing else, to be tried until the node takes one. Whole numbers are
/// tried with each of `sizes` first.
std::vector<Value> base_configs(const NodeType& type, std::span<const std::int64_t> sizes);

/// A configuration that follows from another one by a field.
struct Variant {
    std::string what; ///< "`dim` = 1"
    Value config;
    /// The schema says that exactly this value will do; else a node may have good reason to refuse it.
    bool promised = false;
};

/// `base` with each field in turn at each of its choices, its bounds, true and false, and its default.
std::vector<Variant> variants(const NodeType& type, const Value& base);

/// What the host must refuse by the schema: another kind, out of bounds, no choice, an unknown field, one missing.
std::vector<Variant> refused_variants(const NodeType& type, const Value& base);

/// What the schema lets through and a node may refuse, but not crash from: empty and long texts, the greatest numbers,
/// lists and dicts of anything.
std::vector<Variant> odd_variants(const NodeType& type, const Value& base);

} // namespace soma::cli::verify

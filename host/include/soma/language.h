// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "soma/export.h"
#include "soma/wire.h"

namespace soma {

/// Reads the wire language:
///
///     # licence.soma
///     tokens = text.tokenize(lower=true)
///     tokens >> (nn.bag(dim=256).on("cuda:0") | nn.bag(dim=64).named("chars")) >> flow.join
///
/// Arguments are JSON values by keyword. `name = wire` binds (and names a single node); the last line that is not a binding
/// is the graph. Throws `SyntaxError` with line, column, caret and a suggestion. `source` names the text in errors (a file
/// name, or empty). `known_types` lets errors about unknown types offer the nearest; empty: types are not checked.
SOMA_API Wire parse_wire(std::string_view text, std::string_view source = {},
                         std::span<const std::string> known_types = {});

/// Writes a graph and its placement as wire text that `parse_wire` reads back to the same graph, ids and placement.
/// Series-parallel graphs are written as one expression, others with bindings.
SOMA_API std::string to_wire_text(const Graph& graph, const Placement& placement);

} // namespace soma

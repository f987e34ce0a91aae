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
/// A statement is a line. It goes on in the next one after `>>`, `|`, `(` or `,`, and where the next begins with `>>`, `|`,
/// `.` or `)`; inside the parentheses of arguments lines do not matter. `#` begins a comment. Arguments are JSON values by
/// keyword. `name = wire` binds, and names a single node that is not named otherwise; a binding used twice is the same
/// nodes; one that is never used is an error, since its nodes would be left out. One statement, the graph, binds nothing.
///
/// Throws `SyntaxError`: `source:line:column: message`, with the nearest name or the mend where there is one; the line; a
/// caret. `source` names the text (a file name, or empty). `known_types` lets errors about unknown types offer the nearest;
/// empty: types are not checked. Never deeper than a few calls, however long the text; parentheses nest up to 1000 levels,
/// values 200. What only the whole graph shows, a cycle say, is left to `build`. Linear in the text.
SOMA_API Wire parse_wire(std::string_view text, std::string_view source = {},
                         std::span<const std::string> known_types = {});

/// Writes a graph and its placement as wire text that `parse_wire` reads back to the same graph, ids and placement; versions
/// of types are left out, since text says none. Series-parallel graphs are written as one expression, others with a
/// binding for each node. Throws `GraphError` for a graph without nodes, one with a cycle, or a configuration that JSON
/// cannot hold; `PlacementError` where a node is placed that the graph does not have.
SOMA_API std::string to_wire_text(const Graph& graph, const Placement& placement);

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soma/export.h"
#include "soma/wire.h"

namespace soma::detail {

/// Something wrong with wire text whose grammar is right.
struct WireFault {
    std::size_t offset;  ///< Where in the text it is; of an unknown type, where its node is written.
    std::string message; ///< A `SyntaxError`'s: the place, the line and a caret.
};

/// Wire text read as a graph, and where in the text its nodes are.
struct Located {
    Wired wired;                      ///< The graph and its placement.
    std::vector<std::size_t> offsets; ///< By node: where its type is written. Fewer: there is no graph.
};

/// `parse_wire` and `build` in one, so that what only the whole graph shows, a cycle say, is a `SyntaxError` too. Given
/// `faults`, everything wrong that reading can go on after is put there instead, in the order it is met; if it leaves no
/// graph, none is returned.
SOMA_API Located read_wire(std::string_view text, std::string_view source,
                           std::span<const std::string> known_types = {}, std::vector<WireFault>* faults = nullptr);

/// A `SyntaxError`'s text for something found out later about what stands at `offset`.
SOMA_API std::string at_place(std::string_view text, std::string_view source, std::size_t offset,
                              std::string_view message);

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "soma/export.h"
#include "soma/graph.h"

namespace soma {

/// When: nested sequences and waves. Knows no placement; needs no graph: every call says what it reads and writes.
///
/// Flat: `steps` holds a tree in the order it is written. A sequence's or wave's parts follow it directly; `extent` is the
/// number of steps it spans, itself included, so the next part of its parent begins at `index + extent`.
class SOMA_API Plan {
public:
    /// The value written by the graph's outside: what `run` was given.
    static constexpr std::uint32_t graph_input = 0xffffffff;
    /// No plan nests deeper, so that one may be walked by recursion; what would is a sequence instead.
    static constexpr std::uint32_t max_depth = 500;

    /// What a step is.
    enum class Kind : std::uint8_t {
        sequence, ///< its parts one after the other, on one thread
        wave,     ///< its parts (branches) at once; each runs whole on one thread
        call,     ///< one node
    };

    /// One entry of the plan, flat.
    struct Step {
        Kind kind;                 ///< What it is.
        std::uint32_t extent;      ///< steps spanned, itself included; 1 for a call
        std::uint32_t node;        ///< call: index into `nodes`; it writes the slot of that number
        std::uint32_t reads_begin; ///< call: its inputs are reads[reads_begin … reads_end)
        std::uint32_t reads_end;   ///< Past the last.
        friend bool operator==(const Step&, const Step&) = default; ///< Field by field.
    };

    /// The root is step 0, a sequence. Empty for an empty graph.
    std::vector<Step> steps;
    /// Slots read by calls; `graph_input` for the graph's input. A call with one read gets that value itself, one with
    /// several gets the list of them in this order.
    std::vector<std::uint32_t> reads;
    /// Node ids, by slot.
    std::vector<std::string> nodes;
    /// Slots that make the result, in the order written: one value, or a list.
    std::vector<std::uint32_t> results;

    /// Indented text: one line a sequence, wave or node.
    [[nodiscard]] std::string str() const;
    /// {"sequence": [ "a", {"wave": [ … ]}, … ]}.
    [[nodiscard]] std::string to_json() const;
    /// Greatest number of branches that can be under way at once.
    [[nodiscard]] std::size_t width() const;

    friend bool operator==(const Plan&, const Plan&) = default; ///< Step by step.
};

/// Plans a graph. Its series-parallel parts become sequences and waves, whatever edges say the same again (a skip
/// connection past a branch); a part that is not series-parallel becomes a sequence of its series-parallel pieces, in an
/// order that respects every edge. Parts with no edge between them are branches, at the root too. Branches stand in the
/// order of the first node in each; a wave is never directly in a wave, nor a sequence in a sequence. Linear in nodes and
/// edges. A cycle is a `GraphError` that prints the cycle.
SOMA_API Plan compile(const Graph& graph);

} // namespace soma

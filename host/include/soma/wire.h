// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/device.h"
#include "soma/export.h"
#include "soma/graph.h"
#include "soma/placement.h"
#include "soma/value.h"

namespace soma {

/// A piece of wiring: nodes joined by `>>` (then) and `|` (beside). Immutable; copies are the same nodes.
///
///     node("text.tokenize") >> (node("nn.encoder").on("cuda:0") | node("nn.bag").on("cuda:1")) >> node("flow.join")
///
/// `>>` binds tighter than `|`; both are associative. `a >> b` makes every node at the end of a an input of every node at
/// the start of b: in `(a | b) >> (c | d)` both c and d read the list of two. A piece may be used several times, and is
/// the same nodes each time: `(t >> a) | (t >> b)` with one t is three nodes. Safe to share between threads. Everything
/// here throws `GraphError` for a wire that was moved from.
class SOMA_API Wire {
public:
    /// Places every node of the piece that is not placed in it yet: the innermost `.on()` wins. Throws `DeviceError` here,
    /// where it was written.
    [[nodiscard]] Wire on(std::string_view device) const;
    /// The same with a device that is known to be well-formed.
    [[nodiscard]] Wire on(Device device) const;
    /// Names the one node this wire is; a wire of several nodes is a `GraphError`, and so is a malformed id. Commutes with
    /// `.on()`.
    [[nodiscard]] Wire named(std::string_view id) const;

    SOMA_API friend Wire operator>>(const Wire& first, const Wire& then); ///< One after the other.
    SOMA_API friend Wire operator|(const Wire& left, const Wire& right);  ///< Side by side.

    struct Expression; ///< internal
    /// internal
    explicit Wire(std::shared_ptr<const Expression> expression) : expression_(std::move(expression)) {}
    /// internal
    [[nodiscard]] const std::shared_ptr<const Expression>& expression() const noexcept { return expression_; }

private:
    std::shared_ptr<const Expression> expression_;
};

/// One new node of a type. Its configuration is checked later, against the catalog. A malformed type is a `GraphError`, an
/// argument given twice a `ValueError`.
SOMA_API Wire node(std::string_view type, std::vector<std::pair<std::string, Value>> config = {});

/// What a wire says: what, and where.
struct Wired {
    Graph graph;         ///< What.
    Placement placement; ///< Where.
};

/// Numbers and names the nodes in the order written, a piece used several times where it is met first. A default id never
/// takes an explicit one, also when that comes later. Linear in nodes and edges, and no deeper than one call however long
/// the wire. Throws `GraphError` for two equal explicit ids, two names or two devices for one node, an edge written twice, a
/// node wired to itself and a cycle.
SOMA_API Wired build(const Wire& wire);

} // namespace soma

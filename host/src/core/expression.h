// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "soma/device.h"
#include "soma/value.h"
#include "soma/wire.h"

namespace soma {

/// A wire is a tree of these, or, where a piece is used several times, a graph. Chains make it as deep as they are long, so
/// nothing that walks it may recurse, destruction included.
struct Wire::Expression {
    enum class Form : std::uint8_t {
        node,   ///< NodeExpression
        then,   ///< JoinExpression: first >> second
        beside, ///< JoinExpression: first | second
        on,     ///< OnExpression
        named,  ///< NamedExpression
    };

    /// Of what did not come from text.
    static constexpr std::uint32_t no_offset = 0xffffffff;

    Form form;
    /// Where in the text it is: the name of a node, the operator between two pieces, what `.on()` and `.named()` are given.
    std::uint32_t offset = no_offset;
    /// Where edges into, and out of, this piece are found without walking it: a node, or a `beside` of several.
    const Expression* head;
    const Expression* tail;
    /// The node, when the piece is a single one.
    const Expression* leaf;

protected:
    // Made as one of the structs below, and destroyed as what it was made as.
    explicit Expression(Form what) : form(what), head(this), tail(this), leaf(nullptr) {}
    Expression(Form what, const Expression& inner) : form(what), head(inner.head), tail(inner.tail), leaf(inner.leaf) {}
    ~Expression() = default;

public:
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;
};

namespace detail {

using ExpressionPointer = std::shared_ptr<const Wire::Expression>;

struct NodeExpression : Wire::Expression {
    NodeExpression(std::string type_name, Value configuration)
        : Expression(Form::node), type(std::move(type_name)), config(std::move(configuration)) {
        leaf = this;
    }

    std::string type;
    Value config;
    /// In text: what binds the node, and names it unless it is named otherwise. Set before the wire is given out.
    std::string binding;
};

struct JoinExpression : Wire::Expression {
    /// `then` or `beside`.
    JoinExpression(Form how, ExpressionPointer left, ExpressionPointer right);
    ~JoinExpression();

    ExpressionPointer first;
    ExpressionPointer second;
};

struct OnExpression : Wire::Expression {
    OnExpression(ExpressionPointer piece, Device where)
        : Expression(Form::on, *piece), inner(std::move(piece)), device(where) {}
    ~OnExpression();

    ExpressionPointer inner;
    Device device;
};

struct NamedExpression : Wire::Expression {
    /// The piece is a single node.
    NamedExpression(ExpressionPointer piece, std::string name)
        : Expression(Form::named, *piece), inner(std::move(piece)), id(std::move(name)) {}
    ~NamedExpression();

    ExpressionPointer inner;
    std::string id;
};

inline const NodeExpression& as_node(const Wire::Expression& e) { return static_cast<const NodeExpression&>(e); }
inline const JoinExpression& as_join(const Wire::Expression& e) { return static_cast<const JoinExpression&>(e); }
inline const OnExpression& as_on(const Wire::Expression& e) { return static_cast<const OnExpression&>(e); }
inline const NamedExpression& as_named(const Wire::Expression& e) { return static_cast<const NamedExpression&>(e); }

} // namespace detail

} // namespace soma

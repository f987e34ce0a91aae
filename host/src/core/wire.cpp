// SPDX-License-Identifier: Apache-2.0
#include "soma/wire.h"

#include <vector>

#include <fmt/format.h>

#include "core/expression.h"
#include "core/names.h"
#include "soma/error.h"

namespace soma {

namespace {

using detail::ExpressionPointer;
using Form = Wire::Expression::Form;

const ExpressionPointer& checked(const Wire& wire) {
    if (!wire.expression()) throw GraphError("this wire was moved from; there is nothing in it any more");
    return wire.expression();
}

Wire join(Form how, const Wire& first, const Wire& second) {
    return Wire(std::make_shared<detail::JoinExpression>(how, checked(first), checked(second)));
}

// Expressions that nobody else holds, taken apart here one by one: each one destroyed by its parent's destructor would use
// as much stack as a chain is long.
class Doomed {
public:
    void take(ExpressionPointer& child) noexcept {
        // A sole owner stays one: there is nobody to copy from. Others will do this themselves when they are the last.
        if (!child || child.use_count() != 1 || child->form == Form::node) return;
        try {
            waiting_.push_back(std::move(child));
        } catch (...) { // out of memory: then it is destroyed where it is, by recursion
        }
    }

    void destroy() noexcept {
        while (!waiting_.empty()) {
            const ExpressionPointer one = std::move(waiting_.back());
            waiting_.pop_back();
            // Made as objects that are not const, and the last reference is ours.
            auto& e = const_cast<Wire::Expression&>(*one);
            switch (e.form) {
            case Form::node: break;
            case Form::then:
            case Form::beside:
                take(static_cast<detail::JoinExpression&>(e).first);
                take(static_cast<detail::JoinExpression&>(e).second);
                break;
            case Form::on: take(static_cast<detail::OnExpression&>(e).inner); break;
            case Form::named: take(static_cast<detail::NamedExpression&>(e).inner); break;
            }
        }
    }

private:
    std::vector<ExpressionPointer> waiting_;
};

} // namespace

namespace detail {

JoinExpression::JoinExpression(Form how, ExpressionPointer left, ExpressionPointer right)
    : Expression(how), first(std::move(left)), second(std::move(right)) {
    if (how == Form::then) {
        head = first->head;
        tail = second->tail;
    }
}

JoinExpression::~JoinExpression() {
    Doomed doomed;
    doomed.take(first);
    doomed.take(second);
    doomed.destroy();
}

OnExpression::~OnExpression() {
    Doomed doomed;
    doomed.take(inner);
    doomed.destroy();
}

NamedExpression::~NamedExpression() {
    Doomed doomed;
    doomed.take(inner);
    doomed.destroy();
}

} // namespace detail

Wire Wire::on(std::string_view device) const { return on(Device::parse(device)); }

Wire Wire::on(Device device) const { return Wire(std::make_shared<detail::OnExpression>(checked(*this), device)); }

Wire Wire::named(std::string_view id) const {
    const ExpressionPointer& expression = checked(*this);
    detail::check_id(id);
    if (expression->leaf == nullptr) {
        throw GraphError(fmt::format("`{}` cannot name a piece of several nodes; name one of its nodes", id));
    }
    return Wire(std::make_shared<detail::NamedExpression>(expression, std::string(id)));
}

Wire operator>>(const Wire& first, const Wire& then) { return join(Form::then, first, then); }

Wire operator|(const Wire& left, const Wire& right) { return join(Form::beside, left, right); }

Wire node(std::string_view type, std::vector<std::pair<std::string, Value>> config) {
    detail::check_type(type);
    return Wire(std::make_shared<detail::NodeExpression>(std::string(type),
                                                         config.empty() ? Value() : Value::dict(std::move(config))));
}

} // namespace soma

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "core/build.h"
#include "core/expression.h"
#include "core/names.h"
#include "core/topology.h"
#include "soma/error.h"
#include "soma/wire.h"

namespace soma {

namespace {

using Expression = Wire::Expression;
using Form = Expression::Form;
using Index = Graph::Index;

// What (a | … ) >> (b | … ) may come to: far more than anybody wants, and less than memory has.
constexpr std::size_t most_edges = std::size_t{1} << 27;

// The number of every node met, by its expression: open addressing, half empty.
class Numbers {
public:
    void add(const Expression* node, Index number) {
        if (table_.size() < 2 * (count_ + 1)) {
            std::vector<Slot> old(std::max<std::size_t>(64, 2 * table_.size()));
            old.swap(table_);
            for (const Slot& slot : old) {
                if (slot.node != nullptr) place(slot.node) = slot;
            }
        }
        place(node) = {node, number};
        ++count_;
    }
    Index operator[](const Expression* node) { return place(node).number; }

private:
    struct Slot {
        const Expression* node = nullptr;
        Index number = 0;
    };

    Slot& place(const Expression* node) {
        const std::size_t mask = table_.size() - 1;
        std::size_t at = (reinterpret_cast<std::uintptr_t>(node) * 0x9e3779b97f4a7c15) >> 32;
        while (table_[at & mask].node != nullptr && table_[at & mask].node != node) ++at;
        return table_[at & mask];
    }

    std::vector<Slot> table_;
    std::size_t count_ = 0;
};

class Builder {
public:
    explicit Builder(const Wire& wire) : root_(wire.expression()) {
        if (!root_) throw GraphError("this wire was moved from; there is nothing in it any more");
    }

    Wired build() {
        walk();
        Wired wired;
        name(wired.graph);
        for (const Entry& node : nodes_) {
            if (node.device) wired.placement.place(node.id, *node.device);
        }
        connect(wired.graph);
        return wired;
    }

    /// Where in the text each node is.
    [[nodiscard]] std::vector<std::size_t> offsets() const {
        std::vector<std::size_t> out;
        out.reserve(nodes_.size());
        for (const Entry& node : nodes_) out.push_back(node.expression->offset);
        return out;
    }
    /// Where in the text that is which was thrown about, or `Expression::no_offset`.
    [[nodiscard]] std::size_t fault() const noexcept { return fault_; }

private:
    struct Entry {
        const detail::NodeExpression* expression;
        std::string id;               // given with .named(), then settled for all
        std::optional<Device> device; // given with .on()
    };

    struct Visit {
        const Expression* expression;
        int stage; // how many of the pieces inside have been walked
    };

    // Meets every expression once, the inner before the outer and the left before the right.
    void walk() {
        std::unordered_set<const Expression*> met; // of those that may be used again
        std::vector<Visit> stack;
        const auto enter = [&](const detail::ExpressionPointer& child) {
            if (child.use_count() > 1 && !met.insert(child.get()).second) {
                shared_ = true;
            } else if (child->form == Form::node) {
                numbers_.add(child.get(), static_cast<Index>(nodes_.size()));
                nodes_.push_back({&detail::as_node(*child), {}, {}});
            } else {
                stack.push_back({child.get(), 0});
            }
        };
        enter(root_);
        while (!stack.empty()) {
            const Expression& e = *stack.back().expression;
            const bool pair = e.form == Form::then || e.form == Form::beside;
            const int stage = stack.back().stage++;
            if (stage == (pair ? 2 : 1)) {
                stack.pop_back();
                leave(e);
            } else if (pair) {
                enter(stage == 0 ? detail::as_join(e).first : detail::as_join(e).second);
            } else {
                enter(e.form == Form::on ? detail::as_on(e).inner : detail::as_named(e).inner);
            }
        }
    }

    void leave(const Expression& e) {
        switch (e.form) {
        case Form::node:
        case Form::beside: break;
        case Form::then: connect(detail::as_join(e)); break;
        case Form::on: place(detail::as_on(e)); break;
        case Form::named: {
            std::string& id = entry(*e.leaf).id;
            const std::string& given = detail::as_named(e).id;
            if (!id.empty() && id != given) {
                fault_ = e.offset;
                throw GraphError(
                    fmt::format("one node is named both `{}` and `{}`; a copy of a wire is the same node, so "
                                "make a second node if two are meant",
                                id, given));
            }
            id = given;
            break;
        }
        }
    }

    void connect(const detail::JoinExpression& pair) {
        collect_ends(pair.first->tail, false, from_);
        collect_ends(pair.second->head, true, to_);
        if (from_.size() > (most_edges - edges_.size()) / to_.size()) {
            fault_ = pair.offset;
            throw GraphError(
                fmt::format("`>>` between {} nodes and {} nodes makes more edges than the {} a graph can have",
                            from_.size(), to_.size(), most_edges));
        }
        if (pair.offset != Expression::no_offset) operators_.push_back({edges_.size(), pair.offset});
        numbered_.clear();
        for (const Expression* one : from_) numbered_.push_back(numbers_[one]);
        for (const Expression* one : to_) {
            const Index to = numbers_[one];
            for (const Index from : numbered_) edges_.push_back({from, to});
        }
    }

    void connect(Graph& graph) {
        std::size_t at = 0;
        try {
            for (; at < edges_.size(); ++at) graph.connect(edges_[at].from, edges_[at].to);
            // Where no piece is used twice every edge leads forward.
            if (shared_) detail::check_acyclic(graph);
        } catch (const detail::CycleError& error) {
            fault_ = nodes_[error.node()].expression->offset;
            throw;
        } catch (const GraphError&) {
            const auto after = std::find_if(operators_.begin(), operators_.end(),
                                            [at](const Operator& one) { return one.first_edge > at; });
            if (after != operators_.begin()) fault_ = std::prev(after)->offset;
            throw;
        }
    }

    // The nodes at one end of a piece, in the order written.
    void collect_ends(const Expression* end, bool heads, std::vector<const Expression*>& ends) {
        ends.clear();
        todo_.assign(1, end);
        std::unordered_set<const Expression*> met;
        while (!todo_.empty()) {
            const Expression* one = todo_.back();
            todo_.pop_back();
            // Of what is there twice, once more is one node: enough to be found wired twice, and no more for every way that
            // leads to it.
            const bool again = shared_ && one->form == Form::beside && !met.insert(one).second;
            while (again && one->form == Form::beside) {
                one = heads ? detail::as_join(*one).first->head : detail::as_join(*one).first->tail;
            }
            if (one->form == Form::node) {
                ends.push_back(one);
                continue;
            }
            const auto& pair = detail::as_join(*one); // heads and tails are nodes and `beside`s
            todo_.push_back(heads ? pair.second->head : pair.second->tail);
            todo_.push_back(heads ? pair.first->head : pair.first->tail);
        }
    }

    // Places what is inside and is not placed there. A piece that has an `.on()` of its own is placed, all of it.
    void place(const detail::OnExpression& on) {
        std::vector<const Expression*> walked;
        std::vector<const Expression*> otherwise; // nodes that are placed elsewhere already
        walk_inside(*on.inner, on.device, walked, otherwise);
        if (otherwise.empty()) {
            // Walking them again for the same device would find nothing new.
            for (const Expression* one : walked) walked_for_.insert_or_assign(one, on.device);
            return;
        }
        // Either they were placed inside, by an inner `.on()` that this walk did not go into: that one wins. Or outside.
        std::unordered_set<const Expression*> inside;
        placed_inside(*on.inner, inside);
        for (const Expression* one : otherwise) {
            if (inside.contains(one)) continue;
            Entry& node = entry(*one);
            fault_ = on.offset;
            throw GraphError(
                fmt::format("{} is placed on both `{}` and `{}`; a piece used twice is the same nodes, so place "
                            "it once",
                            describe(node), node.device->str(), on.device.str()));
        }
    }

    void walk_inside(const Expression& inside, Device device, std::vector<const Expression*>& walked,
                     std::vector<const Expression*>& otherwise) {
        todo_.assign(1, &inside);
        std::unordered_set<const Expression*> met;
        while (!todo_.empty()) {
            const Expression* one = todo_.back();
            todo_.pop_back();
            if (shared_) {
                if (!met.insert(one).second) continue;
                const auto before = walked_for_.find(one);
                if (before != walked_for_.end() && before->second == device) continue;
                walked.push_back(one);
            }
            switch (one->form) {
            case Form::node: {
                std::optional<Device>& placed = entry(*one).device;
                if (placed && *placed != device) otherwise.push_back(one);
                if (!placed) placed = device;
                break;
            }
            case Form::then:
            case Form::beside:
                todo_.push_back(detail::as_join(*one).second.get());
                todo_.push_back(detail::as_join(*one).first.get());
                break;
            case Form::on: break;
            case Form::named: todo_.push_back(detail::as_named(*one).inner.get()); break;
            }
        }
    }

    // The nodes that some `.on()` in the piece is about.
    void placed_inside(const Expression& piece, std::unordered_set<const Expression*>& nodes) {
        struct Item {
            const Expression* expression;
            bool placed;
        };
        std::vector<Item> todo{{&piece, false}};
        std::unordered_set<const Expression*> met[2];
        while (!todo.empty()) {
            const Item item = todo.back();
            todo.pop_back();
            if (!met[item.placed ? 1 : 0].insert(item.expression).second) continue;
            const Expression& e = *item.expression;
            switch (e.form) {
            case Form::node:
                if (item.placed) nodes.insert(&e);
                break;
            case Form::then:
            case Form::beside:
                todo.push_back({detail::as_join(e).first.get(), item.placed});
                todo.push_back({detail::as_join(e).second.get(), item.placed});
                break;
            case Form::on: todo.push_back({detail::as_on(e).inner.get(), true}); break;
            case Form::named: todo.push_back({detail::as_named(e).inner.get(), item.placed}); break;
            }
        }
    }

    // Settles the ids, explicit ones first, then those from bindings, then the defaults around them, and adds the nodes.
    void name(Graph& graph) {
        std::unordered_set<std::string_view> taken;
        for (Entry& node : nodes_) {
            if (node.id.empty()) node.id = node.expression->binding;
            if (!node.id.empty() && !taken.insert(node.id).second) {
                fault_ = node.expression->offset;
                throw GraphError(fmt::format("two nodes are named `{}`; an id belongs to one node", node.id));
            }
        }
        std::unordered_map<std::string_view, std::uint32_t> next; // by default id, the number to try
        for (Entry& node : nodes_) {
            if (node.id.empty()) {
                const std::string_view base = detail::default_id(node.expression->type);
                std::uint32_t& number = next.try_emplace(base, 1).first->second;
                do {
                    node.id = detail::numbered_id(base, number++);
                } while (taken.contains(node.id) || graph.find(node.id));
            }
            graph.add(node.expression->type, node.expression->config, node.id);
        }
    }

    Entry& entry(const Expression& node) { return nodes_[numbers_[&node]]; }

    static std::string describe(const Entry& node) {
        if (!node.id.empty()) return fmt::format("node `{}`", node.id);
        if (!node.expression->binding.empty()) return fmt::format("node `{}`", node.expression->binding);
        return fmt::format("a node of type `{}`", node.expression->type);
    }

    const detail::ExpressionPointer& root_;
    std::vector<Entry> nodes_;
    Numbers numbers_;
    std::vector<Graph::Edge> edges_;
    std::unordered_map<const Expression*, Device> walked_for_;
    bool shared_ = false; // some piece was met twice
    struct Operator {
        std::size_t first_edge; // of those it makes
        std::uint32_t offset;
    };
    std::vector<Operator> operators_; // those written in text
    std::size_t fault_ = Expression::no_offset;
    // Kept for their memory.
    std::vector<const Expression*> todo_;
    std::vector<const Expression*> from_;
    std::vector<const Expression*> to_;
    std::vector<Index> numbered_;
};

} // namespace

Wired build(const Wire& wire) { return Builder(wire).build(); }

Wired detail::build(const Wire& wire, std::vector<std::size_t>& offsets, std::size_t& fault) {
    Builder builder(wire);
    try {
        Wired wired = builder.build();
        offsets = builder.offsets();
        return wired;
    } catch (const GraphError&) {
        fault = builder.fault();
        throw;
    }
}

} // namespace soma

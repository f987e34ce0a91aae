// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/language/parser.h"
#include "core/names.h"
#include "core/not_json.h"
#include "core/quote.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/language.h"
#include "soma/plan.h"
#include "soma/suggest.h"

namespace soma {

namespace {

using Index = Graph::Index;

std::size_t depth_of(const Value& value) {
    std::size_t deepest = 0;
    std::vector<std::pair<const Value*, std::size_t>> todo{{&value, 0}};
    while (!todo.empty()) {
        const auto [one, depth] = todo.back();
        todo.pop_back();
        if (one->kind() != Kind::list && one->kind() != Kind::dict) continue;
        deepest = std::max(deepest, depth + 1);
        for (std::size_t i = 0; i < one->size(); ++i) todo.emplace_back(&one->at(i), depth + 1);
    }
    return deepest;
}

// For every node, whether its id must be written: what it would be named otherwise is another.
std::vector<bool> ids_to_write(const Graph& graph) {
    const auto nodes = graph.nodes();
    std::vector<bool> written(nodes.size(), false);
    const auto settle = [&](bool last) {
        std::unordered_set<std::string_view> taken;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (written[i]) taken.insert(nodes[i].id);
        }
        std::unordered_map<std::string_view, std::uint32_t> next;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (written[i]) continue;
            const std::string_view base = detail::default_id(nodes[i].type);
            std::uint32_t& suffix = next.try_emplace(base, 1).first->second;
            std::string id;
            do {
                id = detail::numbered_id(base, suffix++);
            } while (taken.contains(id));
            if (id == nodes[i].id) continue;
            if (last) return false;
            written[i] = true;
            taken.insert(nodes[i].id);
            --suffix; // the next of the type may have it
        }
        return true;
    };
    settle(false);
    if (!settle(true)) written.assign(nodes.size(), true);
    return written;
}

class Writer {
public:
    Writer(const Graph& graph, const Placement& placement) : graph_(graph), placement_(placement) {
        std::vector<std::string> ids;
        for (const auto& [id, device] : placement) {
            if (graph.find(id)) continue;
            for (const Node& node : graph.nodes()) ids.push_back(node.id);
            throw PlacementError(fmt::format("there is no node {} to place on `{}`{}", detail::quoted(id), device.str(),
                                             did_you_mean(id, ids)));
        }
        if (graph.size() == 0) throw GraphError("a graph without nodes has no text");
    }

    std::string write() {
        plan_ = compile(graph_);
        std::vector<Index> tails;
        if (!reads_are_inputs(0, {}, tails) || called_ != graph_.size()) return with_bindings();
        written_ = ids_to_write(graph_);
        std::string line;
        expression(0, false, line);
        if (line.size() <= 120) return line + "\n";
        // Too long for a line: the pieces of the outermost sequence, or wave, on one each.
        const Index outer = plan_.steps[1].extent + 1 == plan_.steps[0].extent && plan_.steps[1].extent > 1 ? 1 : 0;
        line.clear();
        for_each_part(outer, [&](Index part) {
            if (!line.empty()) line += outer == 1 ? "\n| " : "\n>> ";
            expression(part, outer == 0, line);
        });
        return line + "\n";
    }

private:
    template <class What>
    void for_each_part(Index step, What what) const {
        const Index end = step + plan_.steps[step].extent;
        for (Index part = step + 1; part < end; part += plan_.steps[part].extent) what(part);
    }

    // Whether the plan, written as an expression, would be this very graph: nodes numbered as they are written, each reading
    // all the ends of what stands before it. `from` is those ends; gives the step's own in `tails`. Plans are not deep.
    bool reads_are_inputs(Index step, const std::vector<Index>& from, std::vector<Index>& tails) {
        const Plan::Step& s = plan_.steps[step];
        switch (s.kind) {
        case Plan::Kind::call: {
            const auto inputs = graph_.inputs(s.node);
            tails.push_back(s.node);
            return s.node == called_++ && std::equal(inputs.begin(), inputs.end(), from.begin(), from.end());
        }
        case Plan::Kind::wave: {
            bool good = true;
            for_each_part(step, [&](Index part) { good = good && reads_are_inputs(part, from, tails); });
            return good;
        }
        case Plan::Kind::sequence: break;
        }
        bool good = true;
        std::vector<Index> before = from;
        std::vector<Index> after;
        for_each_part(step, [&](Index part) {
            after.clear();
            good = good && reads_are_inputs(part, before, after);
            before.swap(after);
        });
        tails.insert(tails.end(), before.begin(), before.end());
        return good;
    }

    void expression(Index step, bool in_sequence, std::string& out) const {
        const Plan::Step& s = plan_.steps[step];
        if (s.kind == Plan::Kind::call) {
            node(s.node, written_[s.node] ? graph_.nodes()[s.node].id : "", out);
            return;
        }
        const bool wave = s.kind == Plan::Kind::wave;
        const bool single = plan_.steps[step + 1].extent + 1 == s.extent; // the root may have one part
        if (wave && in_sequence) out += '(';
        bool first = true;
        for_each_part(step, [&](Index part) {
            if (!first) out += wave ? " | " : " >> ";
            first = false;
            expression(part, !wave && !single, out);
        });
        if (wave && in_sequence) out += ')';
    }

    // The node's own text, named if `id` is not empty.
    void node(Index index, std::string_view id, std::string& out) const {
        const Node& node = graph_.nodes()[index];
        out += node.type;
        if (node.config.size() > 0) {
            if (const auto what = detail::not_json(node.config)) {
                throw GraphError(
                    fmt::format("the configuration of node `{}` has {}, which text cannot hold", node.id, *what));
            }
            if (depth_of(node.config) > language::deepest_value) {
                throw GraphError(fmt::format("the configuration of node `{}` is nested too deep for text", node.id));
            }
            for (std::size_t i = 0; i < node.config.size(); ++i) {
                const std::string_view key = node.config.key(i);
                if (!detail::is_identifier(key)) {
                    throw GraphError(
                        fmt::format("the configuration of node `{}` has the key {}, which cannot be the name of "
                                    "an argument",
                                    node.id, detail::quoted(key)));
                }
                out += i == 0 ? "(" : ", ";
                out += key;
                out += '=';
                out += to_json(node.config.at(i));
            }
            out += ')';
        }
        if (!id.empty()) out += fmt::format(".named(\"{}\")", id);
        if (const auto device = placement_.of(node.id)) out += fmt::format(".on(\"{}\")", device->str());
    }

    // Every node bound to a name, then every edge: any graph at all.
    std::string with_bindings() const {
        const auto nodes = graph_.nodes();
        // A type without a family could be taken for a binding.
        const bool plain = std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
            return node.type.find('.') != std::string::npos && detail::is_identifier(node.id);
        });
        std::vector<std::string> names;
        std::string out;
        for (Index i = 0; i < nodes.size(); ++i) {
            names.push_back(plain ? nodes[i].id : fmt::format("_{}", i));
            out += names.back() + " = ";
            node(i, plain ? std::string_view() : nodes[i].id, out);
            out += '\n';
        }
        // Nodes are numbered as they are first met.
        std::vector<Index> met;
        std::vector<bool> seen(nodes.size(), false);
        const auto meet = [&](Index index) {
            if (!seen[index]) met.push_back(index);
            seen[index] = true;
        };
        for (Index i = 0; i < nodes.size(); ++i) {
            for (const Index from : graph_.inputs(i)) meet(from);
            if (!graph_.inputs(i).empty()) meet(i);
        }
        std::string_view between;
        if (met.size() < nodes.size() || !std::is_sorted(met.begin(), met.end())) {
            for (const std::string& name : names) {
                out += between;
                out += name;
                between = " | ";
            }
            between = "\n| ";
        }
        for (Index i = 0; i < nodes.size(); ++i) {
            const auto inputs = graph_.inputs(i);
            if (inputs.empty()) continue;
            out += between;
            between = "\n| ";
            if (inputs.size() > 1) out += '(';
            for (std::size_t k = 0; k < inputs.size(); ++k) {
                if (k > 0) out += " | ";
                out += names[inputs[k]];
            }
            if (inputs.size() > 1) out += ')';
            out += " >> " + names[i];
        }
        return out + "\n";
    }

    const Graph& graph_;
    const Placement& placement_;
    Plan plan_;
    std::vector<bool> written_;
    Index called_ = 0;
};

} // namespace

std::string to_wire_text(const Graph& graph, const Placement& placement) { return Writer(graph, placement).write(); }

} // namespace soma

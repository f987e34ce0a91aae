// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/expression.h"
#include "core/language/expected.h"
#include "core/language/source.h"
#include "soma/detail/located.h"
#include "soma/value.h"
#include "soma/wire.h"

namespace soma::language {

/// How deep values may nest in each other, and parentheses.
inline constexpr std::size_t deepest_value = 200;
inline constexpr std::size_t deepest_parentheses = 1000;

/// Puts a wire together from what the grammar finds. Offsets are where in the text a thing begins.
class Parser {
public:
    /// Everything is borrowed. What is wrong and can be read on after is put into `faults`, if given, and else thrown.
    Parser(const Source& source, std::span<const std::string> known_types,
           std::vector<detail::WireFault>* faults = nullptr);

    // Values, innermost first.
    void add(Value value);
    void number(std::string_view text, std::size_t offset);
    void text(std::string_view quoted, std::size_t offset);
    void list_start(std::size_t offset);
    void list_end();
    void dict_start(std::size_t offset) { list_start(offset); }
    void key(std::string_view quoted, std::size_t offset);
    void dict_end();

    // Nodes.
    void name(std::string_view name, std::size_t offset);
    void keyword(std::string_view keyword, std::size_t offset);
    void argument();
    void node();
    void on(std::size_t offset);
    void named(std::size_t offset);

    // Expressions and statements.
    void open(std::size_t offset);
    void close(std::size_t offset);
    void then(std::size_t offset);
    void beside(std::size_t offset);
    void binding_start(std::string_view name, std::size_t offset, std::size_t sign);
    void graph_start(std::size_t offset);
    void statement_end();

    /// The whole text was read.
    Wire finish();

    [[noreturn]] void explain(Expected expected, std::size_t offset) const {
        language::explain(source_, expected, offset, situation_);
    }

private:
    using Pointer = detail::ExpressionPointer;
    struct Binding {
        Pointer wire;
        std::size_t offset;
        bool used;
    };
    // What a pair of parentheses, or a statement, has come to so far: beside | then >> (the operand being read).
    struct Group {
        Pointer beside;
        Pointer then;
        std::size_t then_offset = 0; // of the last `>>`
    };
    struct Open {
        std::size_t first; // of the values in it
        std::size_t first_key;
        std::size_t offset;
    };

    [[nodiscard]] bool is_node(std::string_view name) const;
    void fault(std::size_t offset, std::string_view message);
    [[nodiscard]] std::string used_above(std::string_view name, std::size_t binding) const;
    void check_above(std::string_view name, std::size_t offset) const;
    [[noreturn]] void unknown_name(std::string_view name, std::size_t offset);
    void check_type(std::string_view name, std::size_t offset);
    std::string decode(std::string_view quoted, std::size_t offset) const;
    void fold();
    Pointer fold_group();
    Value take();

    const Source& source_;
    std::span<const std::string> known_types_;
    std::unordered_set<std::string_view> known_;
    std::vector<detail::WireFault>* faults_;
    Situation situation_;

    std::vector<Value> values_;
    std::vector<std::pair<std::string, std::size_t>> keys_; // of the objects that are open, and where they are
    std::vector<Open> containers_;

    std::string_view name_;
    std::size_t name_offset_ = 0;
    std::size_t keyword_offset_ = 0;
    std::vector<std::pair<std::string, Value>> arguments_;
    bool has_arguments_ = false;

    std::vector<Group> groups_;
    Pointer operand_;

    std::string_view bound_name_; // of the statement that is read; empty for the graph
    std::size_t statement_ = 0;
    std::unordered_map<std::string_view, Binding> bindings_;
    std::vector<std::string_view> bound_;                       // in the order written
    std::unordered_map<std::string_view, std::size_t> unbound_; // names met that nothing above binds, and where first
    struct Named {
        const Wire::Expression* node;
        std::size_t offset;
    };
    std::unordered_map<std::string, Named> ids_;                     // given with .named()
    std::unordered_map<const Wire::Expression*, std::string> named_; // the other way round
    Pointer graph_;
    std::size_t graph_offset_ = 0;
};

} // namespace soma::language

// SPDX-License-Identifier: Apache-2.0
#include "core/language/parser.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "core/names.h"
#include "core/quote.h"
#include "soma/error.h"
#include "soma/suggest.h"

namespace soma::language {

namespace {

using Form = Wire::Expression::Form;

unsigned hex(std::string_view four) {
    unsigned number = 0;
    std::from_chars(four.data(), four.data() + four.size(), number, 16);
    return number;
}

void append_utf8(std::string& out, unsigned point) {
    const auto byte = [&](unsigned bits) { out += static_cast<char>(bits); };
    if (point < 0x80) {
        byte(point);
    } else if (point < 0x800) {
        byte(0xc0 | (point >> 6));
        byte(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        byte(0xe0 | (point >> 12));
        byte(0x80 | ((point >> 6) & 0x3f));
        byte(0x80 | (point & 0x3f));
    } else {
        byte(0xf0 | (point >> 18));
        byte(0x80 | ((point >> 12) & 0x3f));
        byte(0x80 | ((point >> 6) & 0x3f));
        byte(0x80 | (point & 0x3f));
    }
}

std::uint32_t narrow(std::size_t offset) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(offset, Wire::Expression::no_offset));
}

// An expression that stands at `offset` of the text.
template <class Made, class... Arguments>
detail::ExpressionPointer make(std::size_t offset, Arguments&&... arguments) {
    auto made = std::make_shared<Made>(std::forward<Arguments>(arguments)...);
    made->offset = narrow(offset);
    return made;
}

detail::ExpressionPointer join(Form form, detail::ExpressionPointer first, detail::ExpressionPointer second,
                               std::size_t offset) {
    if (!first) return second;
    return make<detail::JoinExpression>(offset, form, std::move(first), std::move(second));
}

} // namespace

Parser::Parser(const Source& source, std::span<const std::string> known_types, std::vector<detail::WireFault>* faults)
    : source_(source), known_types_(known_types), known_(known_types.begin(), known_types.end()), faults_(faults) {}

void Parser::fault(std::size_t offset, std::string_view message) {
    const SyntaxError error = source_.error(offset, message);
    if (faults_ == nullptr) throw error;
    faults_->push_back({offset, error.what()});
}

// --- values

void Parser::add(Value value) { values_.push_back(std::move(value)); }

Value Parser::take() {
    Value value = std::move(values_.back());
    values_.pop_back();
    return value;
}

void Parser::number(std::string_view text, std::size_t offset) {
    const char* end = text.data() + text.size();
    if (text.find_first_of(".eE") == std::string_view::npos) {
        std::int64_t whole = 0;
        if (std::from_chars(text.data(), end, whole).ec == std::errc()) return add(whole);
    }
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec != std::errc()) {
        source_.fail(offset, fmt::format("the number {} does not fit a float", detail::quoted(text)));
    }
    add(real);
}

std::string Parser::decode(std::string_view quoted, std::size_t offset) const {
    const std::string_view content = quoted.substr(1, quoted.size() - 2);
    std::string out;
    out.reserve(content.size());
    for (std::size_t i = 0; i < content.size(); ++i) {
        if (content[i] != '\\') {
            const std::size_t next = std::min(content.find('\\', i), content.size());
            out += content.substr(i, next - i);
            i = next - 1;
            continue;
        }
        switch (content[++i]) {
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
            const std::size_t at = offset + i; // of the backslash: the quote makes up for the character past it
            unsigned point = hex(content.substr(i + 1, 4));
            i += 4;
            if (point >= 0xd800 && point < 0xdc00 && content.substr(i + 1).starts_with("\\u")) {
                const unsigned low = hex(content.substr(i + 3, 4));
                if (low >= 0xdc00 && low < 0xe000) {
                    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
                    i += 6;
                }
            }
            if (point >= 0xd800 && point < 0xe000) {
                source_.fail(at,
                             "half of a surrogate pair stands alone; a character past U+FFFF is written as two `\\u`");
            }
            append_utf8(out, point);
            break;
        }
        default: out += content[i]; break;
        }
    }
    return out;
}

void Parser::text(std::string_view quoted, std::size_t offset) {
    if (quoted.find('\\') == std::string_view::npos) return add(quoted.substr(1, quoted.size() - 2));
    add(decode(quoted, offset));
}

void Parser::list_start(std::size_t offset) {
    if (containers_.size() == deepest_value) {
        source_.fail(offset, fmt::format("values are nested deeper than {} levels", deepest_value));
    }
    containers_.push_back({values_.size(), keys_.size(), offset});
}

void Parser::list_end() {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(containers_.back().first);
    std::vector<Value> items(std::make_move_iterator(first), std::make_move_iterator(values_.end()));
    values_.erase(first, values_.end());
    containers_.pop_back();
    add(Value::list(std::move(items)));
}

void Parser::key(std::string_view quoted, std::size_t offset) { keys_.emplace_back(decode(quoted, offset), offset); }

void Parser::dict_end() {
    const Open open = containers_.back();
    containers_.pop_back();
    std::vector<std::pair<std::string, Value>> entries;
    entries.reserve(keys_.size() - open.first_key);
    std::unordered_set<std::string_view> met;
    for (std::size_t i = open.first_key; i < keys_.size(); ++i) {
        const auto& [name, offset] = keys_[i];
        if (!met.insert(name).second) source_.fail(offset, fmt::format("key {} is given twice", detail::quoted(name)));
    }
    for (std::size_t i = open.first_key; i < keys_.size(); ++i) {
        entries.emplace_back(std::move(keys_[i].first), std::move(values_[open.first + i - open.first_key]));
    }
    keys_.resize(open.first_key);
    values_.resize(open.first);
    add(Value::dict(std::move(entries)));
}

// --- nodes

// Whether it is a node by itself, so that a point after it begins a method.
bool Parser::is_node(std::string_view name) const { return bindings_.contains(name) || known_.contains(name); }

void Parser::name(std::string_view name, std::size_t offset) {
    name_ = name;
    name_offset_ = offset;
    situation_.arguments_of = offset;
    const std::string_view before = name.substr(0, std::max(name.rfind('.') + 1, std::size_t{1}) - 1);
    // With no list of types to go by: a type has two parts, so a third is hardly one.
    situation_.method_like = is_node(before) || (known_.empty() && before.find('.') != std::string_view::npos);
    arguments_.clear();
    has_arguments_ = source_.from(offset + name.size()).starts_with('(');
}

void Parser::keyword(std::string_view keyword, std::size_t offset) {
    situation_.keyword = keyword;
    keyword_offset_ = offset;
}

void Parser::argument() {
    // Arguments are few; where they are not, the dict finds what is there twice.
    for (std::size_t i = 0; i < std::min<std::size_t>(arguments_.size(), 64); ++i) {
        if (arguments_[i].first == situation_.keyword) {
            (void)take();
            return fault(keyword_offset_, fmt::format("argument `{}` is given twice", situation_.keyword));
        }
    }
    arguments_.emplace_back(situation_.keyword, take());
}

std::string Parser::used_above(std::string_view name, std::size_t binding) const {
    return fmt::format("`{}` is used above where it is bound, on line {}; bind it before it is used", name,
                       source_.line(binding));
}

// The name, which nothing above binds, is not bound further down either.
void Parser::check_above(std::string_view name, std::size_t offset) const {
    const std::string_view text = source_.text();
    for (std::size_t end = text.find('\n', offset); end != std::string_view::npos; end = text.find('\n', end)) {
        end = text.find_first_not_of(" \t\r\n", end);
        if (end == std::string_view::npos) return;
        if (!text.substr(end).starts_with(name)) continue;
        const std::size_t sign = text.find_first_not_of(" \t", end + name.size());
        if (sign == std::string_view::npos || text[sign] != '=' || text.substr(sign).starts_with("==")) continue;
        source_.fail(offset, used_above(name, end));
    }
}

void Parser::unknown_name(std::string_view name, std::size_t offset) {
    // Looking for every name through the whole text would not be linear; the binding itself tells when it is met.
    if (faults_ == nullptr) check_above(name, offset);
    std::vector<std::string> candidates(known_types_.begin(), known_types_.end());
    candidates.insert(candidates.end(), bound_.begin(), bound_.end());
    const std::string meant = did_you_mean(name, candidates);
    if (name.find('.') != std::string_view::npos) {
        source_.fail(offset, fmt::format("unknown node type `{}`{}", name, meant));
    }
    source_.fail(offset, fmt::format("unknown name `{}`{}; it is no binding above, and a node type is written "
                                     "`family.name`",
                                     name, meant));
}

void Parser::check_type(std::string_view name, std::size_t offset) {
    if (known_.contains(name)) return;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) {
        // With no list of types to go by, only what looks like a binding is taken for a misspelt one.
        unbound_.try_emplace(name, offset);
        const std::vector<std::string> bound(bound_.begin(), bound_.end());
        if (!known_.empty() || nearest(name, bound)) unknown_name(name, offset);
        return;
    }
    const std::string_view last = name.substr(dot + 1);
    const bool bound = is_node(name.substr(0, dot));
    // With no list of types to go by, a binding may be called like a family.
    const bool of_node = bound && !known_.empty();
    if (last == "on" || last == "named" || bound) explain_method_in_name(source_, offset, name.size(), of_node);
    if (!known_.empty()) unknown_name(name, offset);
}

void Parser::node() {
    if (name_.find('.') == std::string_view::npos) {
        const auto found = bindings_.find(name_);
        if (found != bindings_.end()) {
            if (has_arguments_) {
                fault(name_offset_ + name_.size(),
                      fmt::format("`{}` is a binding and takes no arguments; give them where it is bound, on line {}",
                                  name_, source_.line(found->second.offset)));
            }
            found->second.used = true;
            operand_ = found->second.wire;
            return;
        }
        if (name_ == bound_name_) {
            source_.fail(name_offset_, fmt::format("`{}` is bound to something that has it in it", name_));
        }
    }
    try {
        check_type(name_, name_offset_);
    } catch (const SyntaxError& error) {
        // A method that is not written as one: what follows it cannot be read.
        const std::string_view last = name_.substr(name_.rfind('.') + 1);
        if (faults_ == nullptr || last == "on" || last == "named") throw;
        faults_->push_back({name_offset_, error.what()});
    }
    Value config;
    try {
        if (!arguments_.empty()) config = Value::dict(std::move(arguments_));
    } catch (const ValueError& error) {
        source_.fail(name_offset_, error.what());
    }
    operand_ = make<detail::NodeExpression>(name_offset_, std::string(name_), std::move(config));
}

void Parser::on(std::size_t offset) {
    const Value device = take();
    try {
        const Device parsed = Device::parse(device.as_string());
        operand_ = make<detail::OnExpression>(offset, std::move(operand_), parsed);
    } catch (const DeviceError& error) {
        fault(offset, error.what());
    }
}

void Parser::named(std::size_t offset) {
    const Value value = take();
    const std::string id(value.as_string());
    const Wire::Expression* node = operand_->leaf;
    if (node == nullptr) {
        return fault(offset,
                     fmt::format("{} cannot name a piece of several nodes; name one of its nodes", detail::quoted(id)));
    }
    try {
        detail::check_id(id);
    } catch (const GraphError& error) {
        return fault(offset, error.what());
    }
    const auto [mine, is_new] = named_.try_emplace(node, id);
    if (!is_new && mine->second != id) {
        return fault(offset, fmt::format("this node is named `{}` already, on line {}", mine->second,
                                         source_.line(ids_.at(mine->second).offset)));
    }
    const auto [holder, is_free] = ids_.try_emplace(id, Named{node, offset});
    if (!is_free && holder->second.node != node) {
        named_.erase(node);
        return fault(offset,
                     fmt::format("another node is named `{}`, on line {}", id, source_.line(holder->second.offset)));
    }
    operand_ = make<detail::NamedExpression>(offset, std::move(operand_), id);
}

// --- expressions and statements

void Parser::open(std::size_t offset) {
    if (situation_.open.size() == deepest_parentheses) {
        source_.fail(offset, fmt::format("parentheses are nested deeper than {} levels", deepest_parentheses));
    }
    situation_.open.push_back(offset);
    situation_.last_token = "(";
    situation_.last_offset = offset;
    groups_.emplace_back();
}

void Parser::fold() {
    Group& group = groups_.back();
    group.then = join(Form::then, std::move(group.then), std::move(operand_), group.then_offset);
}

Parser::Pointer Parser::fold_group() {
    fold();
    Group& group = groups_.back();
    Pointer whole = join(Form::beside, std::move(group.beside), std::move(group.then), Wire::Expression::no_offset);
    groups_.pop_back();
    return whole;
}

void Parser::close(std::size_t offset) {
    if (situation_.open.empty()) source_.fail(offset, "this `)` closes nothing: there is no `(` before it");
    situation_.open.pop_back();
    operand_ = fold_group();
}

void Parser::then(std::size_t offset) {
    fold();
    groups_.back().then_offset = offset;
    situation_.last_token = ">>";
    situation_.last_offset = offset;
}

void Parser::beside(std::size_t offset) {
    fold();
    Group& group = groups_.back();
    group.beside = join(Form::beside, std::move(group.beside), std::move(group.then), Wire::Expression::no_offset);
    group.then = nullptr;
    situation_.last_token = "|";
    situation_.last_offset = offset;
}

void Parser::binding_start(std::string_view name, std::size_t offset, std::size_t sign) {
    const auto found = bindings_.find(name);
    if (found != bindings_.end()) {
        fault(offset, fmt::format("`{}` is bound already, on line {}", name, source_.line(found->second.offset)));
    }
    if (const auto above = unbound_.find(name); above != unbound_.end()) fault(above->second, used_above(name, offset));
    bound_name_ = name;
    statement_ = offset;
    situation_.last_token = "=";
    situation_.last_offset = sign;
    groups_.emplace_back();
}

void Parser::graph_start(std::size_t offset) {
    if (graph_) {
        source_.fail(offset,
                     fmt::format("a second graph begins here; the first is on line {}. Join the two with `>>` or `|`, "
                                 "or bind the first to a name",
                                 source_.line(graph_offset_)));
    }
    bound_name_ = {};
    statement_ = offset;
    situation_.last_token.clear();
    situation_.last_offset = offset;
    groups_.emplace_back();
}

void Parser::statement_end() {
    if (!situation_.open.empty()) explain(Expected::end, source_.text().size());
    Pointer wire = fold_group();
    if (bound_name_.empty()) {
        graph_ = std::move(wire);
        graph_offset_ = statement_;
        return;
    }
    // Used above, which is a fault already, it is not unused as well.
    const bool used = unbound_.contains(bound_name_);
    if (bindings_.emplace(bound_name_, Binding{std::move(wire), statement_, used}).second)
        bound_.push_back(bound_name_);
    bound_name_ = {};
}

Wire Parser::finish() {
    if (!graph_) {
        if (bound_.empty()) {
            source_.fail(0, "the text has no graph: write one such as `text.tokenize >> nn.bag`");
        }
        source_.fail(
            source_.text().size(),
            fmt::format("the text binds names but has no graph: end it with one such as `{}`, on a line of its own",
                        bound_.back()));
    }
    for (const std::string_view name : bound_) {
        const Binding& binding = bindings_.at(name);
        if (!binding.used) {
            fault(binding.offset,
                  fmt::format("`{}` is bound and never used, so its nodes would be left out; use it or take it out",
                              name));
        }
        const Wire::Expression* node = binding.wire->leaf;
        if (node == nullptr || named_.contains(node)) continue;
        const auto [holder, is_free] = ids_.try_emplace(std::string(name), Named{node, binding.offset});
        if (!is_free) {
            fault(binding.offset, fmt::format("this binding names its node `{}`, and so is another named, on line {}",
                                              name, source_.line(holder->second.offset)));
            continue;
        }
        // Made above, and not given out yet.
        const_cast<detail::NodeExpression&>(detail::as_node(*node)).binding = name;
        named_.emplace(node, name);
    }
    return Wire(std::move(graph_));
}

} // namespace soma::language

// SPDX-License-Identifier: Apache-2.0
#include "core/language/expected.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/names.h"
#include "core/quote.h"
#include "soma/device.h"
#include "soma/error.h"
#include "soma/suggest.h"

namespace soma::language {

namespace {

using detail::is_digit;
using detail::is_word;

const std::array<std::string, 2> methods{"on", "named"};

// Quotation marks of other kinds than ", as typed by mistake or by a word processor.
constexpr std::array<std::string_view, 8> odd_quotes{"'", "`", "“", "”", "„", "‘", "’", "«"};

std::string_view odd_quote_at(std::string_view rest) {
    const auto* found = std::find_if(odd_quotes.begin(), odd_quotes.end(),
                                     [&](std::string_view quote) { return rest.starts_with(quote); });
    return found == odd_quotes.end() ? std::string_view() : *found;
}

std::string_view take_while(std::string_view text, auto belongs) {
    return text.substr(0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), belongs) - text.begin()));
}

// What begins at the place, for "unexpected …": a word, or a single character.
std::string_view token_at(std::string_view rest) {
    const std::string_view word = take_while(rest, [](char c) { return is_word(c) || c == '.'; });
    if (!word.empty()) return word;
    for (const std::string_view sign : {">>", "->", "=>", "||", "|>", "&&", "=="}) {
        if (rest.starts_with(sign)) return sign;
    }
    const auto lead = static_cast<unsigned char>(rest.front());
    return rest.substr(0, lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
}

bool at_line_end(std::string_view rest) {
    return rest.empty() || rest.front() == '\n' || rest.front() == '#' || rest.starts_with("\r\n");
}

// What a text in other quotes, or in none, says: up to the quote or what cannot be in one without.
std::string_view bare_text(std::string_view rest) {
    const std::string_view quote = odd_quote_at(rest);
    if (quote.empty()) {
        return take_while(rest, [](char c) { return is_word(c) || c == ':' || c == '-' || c == '.' || c == '/'; });
    }
    rest.remove_prefix(quote.size());
    rest = take_while(rest, [](char c) { return c != '\n' && c != '\r' && c != ')' && c != ','; });
    std::size_t end = rest.size();
    for (const std::string_view other : odd_quotes) end = std::min(end, rest.find(other));
    return rest.substr(0, end);
}

// `.on("cpu")`: a method and what follows it, with no space between.
std::string in_one(std::string_view method, std::string_view rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    std::string_view text = rest.starts_with("(") ? rest.substr(1) : "";
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::size_t end = text.starts_with("\"") ? text.find_first_of("\"\\\n", 1) : std::string_view::npos;
    const bool closed = end != std::string_view::npos && text[end] == '"';
    if (closed) return fmt::format(".{}({})", method, text.substr(0, end + 1));
    return fmt::format(".{}(\"{}\")", method, method == "on" ? "cuda:0" : "encoder");
}

class Explanation {
public:
    Explanation(const Source& source, std::size_t offset, const Situation& situation)
        : source_(source), situation_(situation) {
        raw_offset_ = offset;
        // A rule that failed may have taken the space before it.
        const std::string_view text = source.text();
        while (offset < text.size() && (text[offset] == ' ' || text[offset] == '\t')) ++offset;
        offset_ = offset;
        rest_ = text.substr(offset);
    }

    [[noreturn]] void give(Expected expected) {
        switch (expected) {
        case Expected::node: node();
        case Expected::end: end();
        case Expected::keyword:
        case Expected::next_keyword: keyword(expected == Expected::next_keyword);
        case Expected::equals: equals();
        case Expected::argument_value:
            value(fmt::format("the value of `{}` is missing", situation_.keyword),
                  fmt::format("{}=", situation_.keyword));
        case Expected::arguments_close: arguments_close();
        case Expected::number: number();
        case Expected::escape_code: escape_code();
        case Expected::quote: quote();
        case Expected::item: value("an item of the list is missing", "");
        case Expected::next_item:
            if (rest_.starts_with("]")) fail("a list has no comma after its last item; take it out");
            value("an item of the list is missing", "");
        case Expected::list_close: close_or_comma("list", ']');
        case Expected::key:
        case Expected::next_key: key(expected == Expected::next_key);
        case Expected::colon:
            if (rest_.starts_with("=")) fail("inside an object `:` stands between key and value");
            fail("`:` is missing after the key");
        case Expected::entry_value: value("the key's value is missing", "");
        case Expected::dict_close: close_or_comma("object", '}');
        case Expected::method: method();
        case Expected::method_open: fail("`(` is missing");
        case Expected::device: method_text("on", "cuda:0", "a device");
        case Expected::id: method_text("named", "encoder", "an id");
        case Expected::method_close: method_close();
        case Expected::nothing: break;
        }
        unexpected("");
    }

private:
    [[noreturn]] void fail(std::string_view message) const { source_.fail(offset_, message); }
    [[noreturn]] void fail_at(std::size_t offset, std::string_view message) const { source_.fail(offset, message); }

    [[noreturn]] void unexpected(std::string_view hint) const {
        if (rest_.empty()) fail(fmt::format("the text ends too early{}{}", hint.empty() ? "" : "; ", hint));
        fail(fmt::format("unexpected {}{}{}", detail::quoted(token_at(rest_)), hint.empty() ? "" : ": ", hint));
    }

    // An operator of another language, or one slip away from ours.
    void wrong_operator() const {
        const auto is = [&](std::string_view sign) { return rest_.starts_with(sign); };
        if (is("||")) fail("`||` is not an operator: write `|` between branches");
        if (is("|>")) fail("`|>` is not an operator: write `>>` between a node and the next");
        if (is("->") || is("=>")) {
            fail(fmt::format("`{}` is not an operator: write `>>`", rest_.substr(0, 2)));
        }
        if (is("→") || is("»")) fail(fmt::format("`{}` is not an operator: write `>>`", token_at(rest_)));
        if (is(">>>")) fail("`>>>` is not an operator: write `>>`");
        if (is(">") && !is(">>")) fail("`>` is not an operator: write `>>`");
        if (is("&")) fail(fmt::format("`{}` is not an operator: write `|` between branches", token_at(rest_)));
        if (is("//") || is("/*") || is("--")) {
            fail(fmt::format("`{}` begins no comment: write `#`", rest_.substr(0, 2)));
        }
        if (is(";")) fail("`;` has no place here: a statement ends with its line");
    }

    [[noreturn]] void node() const {
        const std::string& before = situation_.last_token;
        if (at_line_end(rest_)) {
            if (before == "(") fail_at(situation_.open.back(), "this `(` is not closed, and nothing follows it");
            fail_at(situation_.last_offset, fmt::format("nothing follows `{}`: a node or a binding is wanted", before));
        }
        const bool is_operator = rest_.starts_with(">>") || rest_.starts_with("|");
        if (before.empty() && is_operator) fail(fmt::format("nothing stands before `{}`", token_at(rest_)));
        wrong_operator();
        if (rest_.front() == ')') {
            if (before == "(") fail_at(situation_.open.back(), "there is nothing between `(` and `)`");
            if (situation_.open.empty()) fail("this `)` closes nothing: there is no `(` before it");
            fail(fmt::format("nothing stands between `{}` and `)`", before));
        }
        if (is_operator) fail(fmt::format("nothing stands between `{}` and `{}`", before, token_at(rest_)));
        if (rest_.front() == '"' || !odd_quote_at(rest_).empty()) fail("a node or a binding is written without quotes");
        if (is_digit(rest_.front())) unexpected("a name begins with a letter");
        if (rest_.front() == '.') unexpected("a method follows a node, as in `nn.bag.on(\"cuda:0\")`");
        unexpected("a node such as `nn.linear`, or a binding, is wanted");
    }

    [[noreturn]] void end() const {
        const bool inside = !situation_.open.empty();
        if (at_line_end(rest_) && inside) fail_at(situation_.open.back(), "this `(` is not closed: a `)` is missing");
        if (at_line_end(rest_)) unexpected("");
        wrong_operator();
        if (rest_.front() == '(') {
            unexpected("write `>>` or `|` between two pieces; arguments follow a node's name with no space");
        }
        if (rest_.front() == ',') unexpected("write `|` between branches");
        if (rest_.front() == '=') unexpected("a binding is one word, as in `tokens = text.tokenize`");
        if (is_word(rest_.front())) {
            if (!inside) {
                // `a = x b = y` on one line
                const std::string_view word = take_while(rest_, is_word);
                const std::string_view after = rest_.substr(word.size());
                const std::size_t next = after.find_first_not_of(" \t");
                if (next != std::string_view::npos && after[next] == '=') {
                    unexpected("a statement begins on a line of its own");
                }
            }
            unexpected("`>>` or `|` is missing before it");
        }
        unexpected("`>>`, `|` or the end of the line is wanted");
    }

    [[nodiscard]] std::string called() const {
        const std::string_view rest = source_.from(situation_.arguments_of);
        return std::string(take_while(rest, [](char c) { return is_word(c) || c == '.'; }));
    }

    void method_in_name() const {
        explain_method_in_name(source_, situation_.arguments_of, called().size(), situation_.method_like);
    }

    [[noreturn]] void keyword(bool next) const {
        if (rest_.empty()) not_closed();
        if (next && rest_.front() == ')') fail("there is no comma after the last argument; take it out");
        if (rest_.front() == ',') fail("an argument is missing before this comma");
        // `.om("cuda:0")` reads as a type of that name.
        if (rest_.front() == '"' || !odd_quote_at(rest_).empty()) method_in_name();
        if (rest_.front() == '"') {
            const std::string_view word = take_while(rest_.substr(1), is_word);
            const std::string_view after = rest_.substr(std::min(rest_.size(), word.size() + 2));
            if (after.starts_with("=") || after.starts_with(" =") || after.starts_with(":")) {
                fail(fmt::format("an argument's name has no quotes: write `{}=…`", word));
            }
        }
        if (rest_.front() == '*') unexpected("every argument is written out, as in `dim=256`");
        fail(fmt::format("`{}` takes its arguments by name: write `name=value`, as in `dim=256`", called()));
    }

    [[noreturn]] void equals() const {
        const std::string& name = situation_.keyword;
        if (rest_.empty()) not_closed();
        if (rest_.starts_with("==")) fail(fmt::format("write one `=`: `{}=…`", name));
        if (rest_.front() == ':') method_in_name();
        if (rest_.front() == ':') fail(fmt::format("write `=` between an argument's name and its value: `{}=…`", name));
        if (rest_.front() == ')' || rest_.front() == ',') {
            method_in_name();
            fail(fmt::format("`{}` has no value: arguments are written `name=value`; for a switch write `{}=true`",
                             name, name));
        }
        unexpected(fmt::format("`=` and a value are wanted after `{}`", name));
    }

    [[noreturn]] void value(std::string_view missing, std::string_view before) const {
        if (rest_.empty()) not_closed();
        const char c = rest_.front();
        if (c == ')' || c == ',' || c == ']' || c == '}' || c == '\n') fail(missing);
        const std::string_view bare = bare_text(rest_);
        if (!odd_quote_at(rest_).empty()) {
            fail(fmt::format("texts stand in double quotes: write {}\"{}\"", before, bare));
        }
        if (c == '.') unexpected("a number has a digit before its point: write `0.5`, not `.5`");
        if (c == '+') unexpected("a number has no `+` before it");
        if (c == '(') unexpected("lists are written in `[` and `]`");
        if (c == '=') unexpected("write one `=`");
        if (bare.empty() || is_digit(c))
            unexpected("a JSON value is wanted: a number, a text, true, false, null, […] or {…}");
        struct Word {
            std::string_view wrong;
            std::string_view right;
        };
        constexpr std::array<Word, 12> words{{{"True", "true"},
                                              {"TRUE", "true"},
                                              {"yes", "true"},
                                              {"False", "false"},
                                              {"FALSE", "false"},
                                              {"no", "false"},
                                              {"None", "null"},
                                              {"none", "null"},
                                              {"nil", "null"},
                                              {"NULL", "null"},
                                              {"Null", "null"},
                                              {"undefined", "null"}}};
        for (const Word& word : words) {
            if (bare == word.wrong) fail(fmt::format("`{}` is no value: write {}{}", word.wrong, before, word.right));
        }
        if (bare == "nan" || bare == "NaN" || bare == "inf" || bare == "Infinity" || bare == "Inf") {
            fail(fmt::format("`{}` is no value: JSON's numbers are finite", bare));
        }
        static const std::array<std::string, 3> known{"true", "false", "null"};
        if (const auto near = nearest(bare, known)) {
            fail(fmt::format("`{}` is no value (did you mean `{}`?)", bare, *near));
        }
        fail(fmt::format("`{}` is no value: a text stands in quotes, so write {}\"{}\"", bare, before, bare));
    }

    [[noreturn]] void arguments_close() const {
        if (rest_.empty()) not_closed();
        wrong_operator_inside();
        if (is_word(rest_.front())) {
            const std::string_view word = take_while(rest_, is_word);
            fail(fmt::format("a comma is missing before `{}`", word));
        }
        unexpected("`,` or `)` is wanted after an argument");
    }

    // An operator where arguments should have ended.
    void wrong_operator_inside() const {
        if (rest_.starts_with(">>") || rest_.starts_with("|")) {
            fail_at(situation_.arguments_of + called().size(), "these arguments are not closed: a `)` is missing");
        }
    }

    [[noreturn]] void not_closed() const {
        fail_at(situation_.arguments_of + called().size(), "this `(` is not closed: a `)` is missing");
    }

    [[noreturn]] void number() const {
        const std::string_view number =
            take_while(rest_, [](char c) { return is_word(c) || c == '.' || c == '+' || c == '-'; });
        const std::string_view digits = number.substr(number.starts_with("-") ? 1 : 0);
        std::string_view why = "it is not a JSON number";
        if (digits.empty() || !is_digit(digits.front())) {
            why = digits.starts_with(".") ? "a digit stands before the point" : "a digit must follow `-`";
        } else if (digits.starts_with("0x") || digits.starts_with("0X")) {
            why = "numbers are decimal";
        } else if (digits.size() > 1 && digits.front() == '0' && is_digit(digits[1])) {
            why = "a number has no leading zero";
        } else if (digits.find('_') != std::string_view::npos) {
            why = "a number has no `_` in it";
        } else if (digits.ends_with(".")) {
            why = "a digit stands after the point";
        } else if (std::any_of(digits.begin(), digits.end(), [](char c) { return detail::is_letter(c); })) {
            why = "a text stands in quotes";
        }
        fail(fmt::format("`{}` is no value: {}", number, why));
    }

    [[noreturn]] void escape_code() const {
        // Here the space is part of the text.
        const std::size_t at = raw_offset_ - 1;
        const std::string_view after = source_.from(at + 1);
        if (after.starts_with("u")) fail_at(at, "`\\u` is followed by four hexadecimal digits");
        if (after.empty() || after.front() == '\n' || after.front() == '\r') {
            fail_at(at, "a text ends on the line it begins on; a backslash does not continue it");
        }
        fail_at(at, fmt::format("unknown escape `\\{}`: there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX",
                                token_at(after).substr(0, is_word(after.front()) ? 1 : std::string_view::npos)));
    }

    [[noreturn]] void quote() const {
        // The place is where the text could not go on: its end, the line's, or a control character.
        const std::string_view before = source_.text().substr(0, raw_offset_);
        const std::string_view rest = source_.from(raw_offset_);
        if (rest.empty() || rest.front() == '\n' || rest.front() == '\r') {
            fail_at(start_of_text(before), "this text is not closed: a `\"` is missing");
        }
        fail_at(raw_offset_, fmt::format("a control character stands in the text: write it as \\u{:04x}",
                                         static_cast<unsigned char>(rest.front())));
    }

    // Where the text begins that reaches to the end of `before`.
    static std::size_t start_of_text(std::string_view before) {
        const std::size_t line = before.rfind('\n') + 1;
        std::size_t start = before.size();
        bool inside = false;
        for (std::size_t i = line; i < before.size(); ++i) {
            if (inside && before[i] == '\\') {
                ++i;
            } else if (before[i] == '"') {
                inside = !inside;
                if (inside) start = i;
            }
        }
        return start;
    }

    [[noreturn]] void close_or_comma(std::string_view what, char end) const {
        if (rest_.empty()) fail(fmt::format("the {} is not closed: a `{}` is missing", what, end));
        const bool begins_value = is_word(rest_.front()) || rest_.front() == '"' || rest_.front() == '[' ||
                                  rest_.front() == '{' || rest_.front() == '-';
        if (begins_value) fail(fmt::format("a comma is missing between two entries of the {}", what));
        unexpected(fmt::format("`,` or `{}` is wanted inside the {}", end, what));
    }

    [[noreturn]] void key(bool next) const {
        if (rest_.empty()) fail("the object is not closed: a `}` is missing");
        if (next && rest_.front() == '}') fail("an object has no comma after its last entry; take it out");
        const std::string_view bare = bare_text(rest_);
        if (!bare.empty()) {
            const std::string_view word = take_while(bare, is_word);
            fail(fmt::format("an object's key stands in double quotes: write \"{}\"", word.empty() ? bare : word));
        }
        unexpected("an object's key, in double quotes, is wanted");
    }

    [[noreturn]] void method() const {
        const std::string_view word = take_while(rest_, is_word);
        if (word == "on" || word == "named") {
            fail(fmt::format("`.{}` is written without a space: {}", word, in_one(word, rest_.substr(word.size()))));
        }
        if (word.empty()) {
            if (at_line_end(rest_)) fail("nothing follows the `.`");
            unexpected("`.on(…)` or `.named(…)` is wanted after the point");
        }
        const auto meant = nearest(word, methods);
        fail(fmt::format("unknown method `.{}`{}", word,
                         meant ? fmt::format(" (did you mean `.{}`?)", *meant) : "; there are `.on` and `.named`"));
    }

    // The device that was meant, as far as that can be told: a number is cuda's.
    static std::string device_like(const std::string& text, std::string_view example) {
        for (const std::string& tried : {text, "cuda:" + text}) {
            try {
                return Device::parse(tried).str();
            } catch (const DeviceError&) {
            }
        }
        return std::string(example);
    }

    [[noreturn]] void method_text(std::string_view method, std::string_view example, std::string_view what) const {
        if (rest_.empty()) fail(fmt::format("the text ends too early: write .{}(\"{}\")", method, example));
        if (rest_.front() == ')') fail(fmt::format("`.{}` needs {}: write .{}(\"{}\")", method, what, method, example));
        std::string bare(bare_text(rest_));
        const std::size_t said = bare.size();
        if (method == "on" && !bare.empty()) bare = device_like(bare, example);
        if (!odd_quote_at(rest_).empty()) {
            fail(fmt::format("texts stand in double quotes: write .{}(\"{}\")", method, bare));
        }
        if (bare.empty())
            unexpected(fmt::format("write {} in double quotes, as in .{}(\"{}\")", what, method, example));
        const std::string_view after = rest_.substr(said);
        if (after.starts_with("=")) {
            fail(fmt::format("`.{}` takes {} and no name for it: write .{}(\"{}\")", method, what, method, example));
        }
        fail(fmt::format("{} stands in quotes: write .{}(\"{}\")", what, method, bare));
    }

    [[noreturn]] void method_close() const {
        if (rest_.empty()) fail("a `)` is missing");
        if (rest_.front() == ',') fail("`.on` and `.named` take one text each");
        unexpected("a `)` is missing before it");
    }

    const Source& source_;
    const Situation& situation_;
    std::size_t raw_offset_ = 0; // where the rule failed
    std::size_t offset_ = 0;     // past the space there
    std::string_view rest_;
};

} // namespace

void explain(const Source& source, Expected expected, std::size_t offset, const Situation& situation) {
    Explanation(source, offset, situation).give(expected);
}

void explain_method_in_name(const Source& source, std::size_t offset, std::size_t length, bool of_node) {
    const std::string_view name = source.text().substr(offset, length);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return;
    const std::string_view last = name.substr(dot + 1);
    const std::size_t at = offset + dot;
    // Its `(` would have made a method of it.
    const std::string_view rest = source.from(offset + length);
    const std::size_t open = rest.find_first_not_of(" \t");
    if ((last == "on" || last == "named") && open != std::string_view::npos && rest[open] == '(') {
        source.fail(at, fmt::format("`.{}` is written without a space before its `(`: {}", last, in_one(last, rest)));
    }
    if (last == "on") source.fail(at, "`.on` needs a device: write .on(\"cuda:0\")");
    if (last == "named") source.fail(at, "`.named` needs an id: write .named(\"encoder\")");
    if (const auto near = nearest(last, methods)) {
        source.fail(at, fmt::format("unknown method `.{}` (did you mean `.{}`?)", last, *near));
    }
    if (of_node) source.fail(at, fmt::format("unknown method `.{}`; there are `.on` and `.named`", last));
}

} // namespace soma::language

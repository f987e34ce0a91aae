// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/json_depth.h"
#include "core/names.h"
#include "core/value_data.h"
#include "soma/error.h"
#include "soma/json.h"

namespace soma {

namespace {

struct Position {
    std::size_t line = 1;
    std::size_t column = 1; // in code points
};

Position position_of(std::string_view text, std::size_t offset) {
    Position at;
    for (const char c : text.substr(0, offset)) {
        if (c == '\n') {
            ++at.line;
            at.column = 1;
        } else if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u) {
            ++at.column;
        }
    }
    return at;
}

[[noreturn]] void fail(std::string_view text, std::size_t offset, std::string_view why) {
    const Position at = position_of(text, std::min(offset, text.size()));
    throw ValueError(fmt::format("JSON is not valid at {}:{}: {}", at.line, at.column, why));
}

// Reads the text and tells how far the parser has come.
class Cursor {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Cursor(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
    const char& operator*() const { return *at_; }
    Cursor& operator++() {
        ++at_;
        *furthest_ = at_;
        return *this;
    }
    Cursor operator++(int) {
        Cursor before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }

private:
    const char* at_;
    const char** furthest_;
};

// Builds values bottom up on a stack of its own; the parser calls it without recursion.
class Builder {
public:
    explicit Builder(std::string_view text) : text_(text), furthest_(text.data()) {}

    const char** furthest() { return &furthest_; }
    Value take() { return std::move(*result_); }

    bool null() { return add(Value()); }
    bool boolean(bool value) { return add(Value(value)); }
    bool number_integer(std::int64_t value) { return add(Value(value)); }
    bool number_unsigned(std::uint64_t value) {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return add(Value(static_cast<double>(value)));
        }
        return add(Value(static_cast<std::int64_t>(value)));
    }
    bool number_float(double value, const std::string&) { return add(Value(value)); }
    bool string(std::string& value) { return add(Value(value)); }
    bool binary(std::vector<std::uint8_t>&) { return false; } // JSON text has none

    bool start_object(std::size_t) { return open(true); }
    bool key(std::string& name) {
        Frame& frame = open_.back();
        const auto& entries = frame.entries;
        bool twice = false;
        if (entries.size() < 16) {
            twice = std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == name; });
        } else {
            if (frame.keys.empty()) {
                for (const auto& entry : entries) frame.keys.insert(entry.first);
            }
            twice = !frame.keys.insert(name).second;
        }
        if (twice) fail(text_, start_of_string(), fmt::format("key `{}` is given twice", name));
        frame.entries.emplace_back(std::move(name), Value());
        return true;
    }
    bool end_object() {
        Value made = Value::dict(std::move(open_.back().entries));
        open_.pop_back();
        return add(std::move(made));
    }
    bool start_array(std::size_t) { return open(false); }
    bool end_array() {
        Value made = Value::list(std::move(open_.back().items));
        open_.pop_back();
        return add(std::move(made));
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
        std::string_view why = error.what();
        // "[json.exception.parse_error.101] parse error at line 1, column 5: what we want"
        if (const auto bracket = why.find("] "); bracket != std::string_view::npos) why.remove_prefix(bracket + 2);
        if (why.starts_with("parse error at ")) why.remove_prefix(std::min(why.find(": ") + 2, why.size()));
        // Of characters read, so 1 for the first.
        fail(text_, position == 0 ? 0 : position - 1, why);
    }

private:
    struct Frame {
        bool dict;
        std::vector<Value> items;
        std::vector<std::pair<std::string, Value>> entries;
        std::unordered_set<std::string> keys; // once there are many
    };

    bool open(bool dict) {
        if (open_.size() == detail::deepest_json) {
            fail(text_, static_cast<std::size_t>(furthest_ - text_.data()) - 1,
                 fmt::format("lists and objects are nested deeper than {} levels", detail::deepest_json));
        }
        open_.push_back({dict, {}, {}, {}});
        return true;
    }

    bool add(Value value) {
        if (open_.empty()) {
            result_ = std::move(value);
        } else if (open_.back().dict) {
            open_.back().entries.back().second = std::move(value);
        } else {
            open_.back().items.push_back(std::move(value));
        }
        return true;
    }

    // Where the string begins whose closing quote was read last.
    std::size_t start_of_string() const {
        std::size_t at = static_cast<std::size_t>(furthest_ - text_.data()) - 1;
        for (;;) {
            at = text_.rfind('"', at - 1);
            std::size_t backslashes = 0;
            while (backslashes < at && text_[at - 1 - backslashes] == '\\') ++backslashes;
            if (backslashes % 2 == 0) return at;
        }
    }

    std::string_view text_;
    const char* furthest_;
    std::vector<Frame> open_;
    std::optional<Value> result_;
};

// What the parser would make of a text that is one short whole number, word or plain string, nothing around it. Plugins
// give dozens of these at every start, and to set the parser up costs ten times what they are worth.
std::optional<Value> read_plain(std::string_view text) {
    if (text == "true") return Value(true);
    if (text == "false") return Value(false);
    if (text == "null") return Value();
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
        const std::string_view inside = text.substr(1, text.size() - 2);
        const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
        if (std::all_of(inside.begin(), inside.end(), plain)) return Value(inside);
        return std::nullopt;
    }
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    if (digits.empty() || digits.size() > 18) return std::nullopt; // or it may be too large
    if (!std::all_of(digits.begin(), digits.end(), detail::is_digit)) return std::nullopt;
    if (digits.front() == '0' && text != "0") return std::nullopt;
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return Value(number);
}

} // namespace

Value parse_json(std::string_view text) {
    if (text.data() == nullptr) text = "";
    if (std::optional<Value> plain = read_plain(text)) return std::move(*plain);
    Builder builder(text);
    // The builder throws where it says no.
    nlohmann::json::sax_parse(Cursor(text.data(), builder.furthest()),
                              Cursor(text.data() + text.size(), builder.furthest()), &builder);
    return builder.take();
}

} // namespace soma

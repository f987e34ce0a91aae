// SPDX-License-Identifier: Apache-2.0
#include "soma/language.h"

#include "core/build.h"
#include "core/language/grammar.h"
#include "core/language/parser.h"
#include "core/language/source.h"
#include "soma/detail/located.h"
#include "soma/error.h"

namespace soma {

namespace {

using language::Expected;
using language::Parser;
namespace grammar = language::grammar;

// --- what it means that a rule is missing

template <typename Rule>
constexpr Expected expected = Expected::nothing;
template <>
constexpr Expected expected<grammar::operand_node> = Expected::node;
template <>
constexpr Expected expected<grammar::statement_end> = Expected::end;
template <>
constexpr Expected expected<grammar::keyword> = Expected::keyword;
template <>
constexpr Expected expected<grammar::next_keyword> = Expected::next_keyword;
template <>
constexpr Expected expected<grammar::equals> = Expected::equals;
template <>
constexpr Expected expected<grammar::argument_value> = Expected::argument_value;
template <>
constexpr Expected expected<grammar::arguments_close> = Expected::arguments_close;
template <>
constexpr Expected expected<grammar::whole_number> = Expected::number;
template <>
constexpr Expected expected<grammar::escape_code> = Expected::escape_code;
template <>
constexpr Expected expected<grammar::quote> = Expected::quote;
template <>
constexpr Expected expected<grammar::item> = Expected::item;
template <>
constexpr Expected expected<grammar::next_item> = Expected::next_item;
template <>
constexpr Expected expected<grammar::list_close> = Expected::list_close;
template <>
constexpr Expected expected<grammar::key> = Expected::key;
template <>
constexpr Expected expected<grammar::next_key> = Expected::next_key;
template <>
constexpr Expected expected<grammar::colon> = Expected::colon;
template <>
constexpr Expected expected<grammar::entry_value> = Expected::entry_value;
template <>
constexpr Expected expected<grammar::dict_close> = Expected::dict_close;
template <>
constexpr Expected expected<grammar::known_method> = Expected::method;
template <>
constexpr Expected expected<grammar::method_open> = Expected::method_open;
template <>
constexpr Expected expected<grammar::method_close> = Expected::method_close;
template <>
constexpr Expected expected<grammar::device> = Expected::device;
template <>
constexpr Expected expected<grammar::id> = Expected::id;

struct State {
    Parser& parser;
    const char* begin; // of the text

    [[nodiscard]] std::size_t offset(const char* at) const { return static_cast<std::size_t>(at - begin); }
};

template <typename Rule>
struct Control : tao::pegtl::normal<Rule> {
    template <typename Input>
    [[noreturn]] static void raise(const Input& in, State& state) {
        state.parser.explain(expected<Rule>, state.offset(in.current()));
    }
};

// --- what is done when a rule is met

template <typename Rule>
struct Action : tao::pegtl::nothing<Rule> {};

// The rule's text, and where it is.
template <void (Parser::*Method)(std::string_view, std::size_t)>
struct WithText {
    template <typename Input>
    static void apply(const Input& in, State& state) {
        (state.parser.*Method)(std::string_view(in.begin(), in.size()), state.offset(in.begin()));
    }
};

template <void (Parser::*Method)(std::size_t)>
struct WithBegin {
    template <typename Input>
    static void apply(const Input& in, State& state) {
        (state.parser.*Method)(state.offset(in.begin()));
    }
};

template <void (Parser::*Method)()>
struct Plain {
    static void apply0(State& state) { (state.parser.*Method)(); }
};

template <>
struct Action<grammar::null_word> {
    static void apply0(State& state) { state.parser.add(Value()); }
};
template <>
struct Action<grammar::true_word> {
    static void apply0(State& state) { state.parser.add(true); }
};
template <>
struct Action<grammar::false_word> {
    static void apply0(State& state) { state.parser.add(false); }
};
template <>
struct Action<grammar::number> : WithText<&Parser::number> {};
template <>
struct Action<grammar::text_value> : WithText<&Parser::text> {};
template <>
struct Action<grammar::list_start> : WithBegin<&Parser::list_start> {};
template <>
struct Action<grammar::list_end> : Plain<&Parser::list_end> {};
template <>
struct Action<grammar::dict_start> : WithBegin<&Parser::dict_start> {};
template <>
struct Action<grammar::dict_end> : Plain<&Parser::dict_end> {};
template <>
struct Action<grammar::key> : WithText<&Parser::key> {};
template <>
struct Action<grammar::name> : WithText<&Parser::name> {};
template <>
struct Action<grammar::keyword> : WithText<&Parser::keyword> {};
template <>
struct Action<grammar::argument_value> : Plain<&Parser::argument> {};
template <>
struct Action<grammar::node> : Plain<&Parser::node> {};
template <>
struct Action<grammar::device> : WithBegin<&Parser::on> {};
template <>
struct Action<grammar::id> : WithBegin<&Parser::named> {};
template <>
struct Action<grammar::open> : WithBegin<&Parser::open> {};
template <>
struct Action<grammar::close> : WithBegin<&Parser::close> {};
template <>
struct Action<grammar::then_operator> : WithBegin<&Parser::then> {};
template <>
struct Action<grammar::beside_operator> : WithBegin<&Parser::beside> {};
template <>
struct Action<grammar::graph_start> : WithBegin<&Parser::graph_start> {};
template <>
struct Action<grammar::statement_end> : Plain<&Parser::statement_end> {};
template <>
struct Action<grammar::binding_start> {
    template <typename Input>
    static void apply(const Input& in, State& state) {
        const std::string_view all(in.begin(), in.size());
        const std::size_t sign = all.rfind('=');
        const std::string_view name = all.substr(0, all.find_first_of(" \t="));
        state.parser.binding_start(name, state.offset(in.begin()), state.offset(in.begin()) + sign);
    }
};

Wire read(const language::Source& source, std::span<const std::string> known_types,
          std::vector<detail::WireFault>* faults) {
    source.check_bytes();
    const std::string_view text = source.text();
    Parser parser(source, known_types, faults);
    State state{parser, text.data()};
    tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy> input(text.data(), text.data() + text.size(), "");
    tao::pegtl::parse<grammar::text, Action, Control>(input, state);
    return parser.finish();
}

} // namespace

Wire parse_wire(std::string_view text, std::string_view source_name, std::span<const std::string> known_types) {
    return read(language::Source(text, source_name), known_types, nullptr);
}

detail::Located detail::read_wire(std::string_view text, std::string_view source_name,
                                  std::span<const std::string> known_types, std::vector<WireFault>* faults) {
    const language::Source source(text, source_name);
    const Wire wire = read(source, known_types, faults);
    Located located;
    std::size_t place = Wire::Expression::no_offset;
    try {
        located.wired = build(wire, located.offsets, place);
    } catch (const GraphError& error) {
        if (place == Wire::Expression::no_offset) throw;
        const SyntaxError placed = source.error(place, error.what());
        if (faults == nullptr) throw placed;
        faults->push_back({place, placed.what()});
    }
    return located;
}

std::string detail::at_place(std::string_view text, std::string_view source, std::size_t offset,
                             std::string_view message) {
    return language::Source(text, source).error(offset, message).what();
}

} // namespace soma

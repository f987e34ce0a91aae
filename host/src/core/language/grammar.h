// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <tao/pegtl.hpp>

/// The grammar of the wire language. Parentheses and chains are flat here, and put together by the actions, so that neither
/// uses the stack; only values nest by recursion, and the actions bound it.
///
/// Where a rule is wrapped in `must` nothing else can stand: its failure ends the parse, at the place where it began, and
/// explain.cpp says what about. Such a rule ends in `failure` where it could otherwise fail half way.
namespace soma::language::grammar {

namespace p = tao::pegtl;

// clang-format off

// --- space and words

struct comment : p::seq<p::one<'#'>, p::star<p::not_one<'\n'>>> {};
struct line_space : p::star<p::one<' ', '\t'>> {};
struct space : p::star<p::sor<p::one<' ', '\t', '\n'>, p::string<'\r', '\n'>, comment>> {};
struct comma : p::seq<p::one<','>, space> {};
struct word_end : p::not_at<p::identifier_other> {};

// --- values: JSON

struct null_word : p::seq<p::string<'n', 'u', 'l', 'l'>, word_end> {};
struct true_word : p::seq<p::string<'t', 'r', 'u', 'e'>, word_end> {};
struct false_word : p::seq<p::string<'f', 'a', 'l', 's', 'e'>, word_end> {};

struct digits : p::plus<p::digit> {};
struct fraction : p::seq<p::one<'.'>, digits> {};
struct exponent : p::seq<p::one<'e', 'E'>, p::opt<p::one<'+', '-'>>, digits> {};
struct number : p::seq<p::opt<p::one<'-'>>, p::sor<p::one<'0'>, digits>, p::opt<fraction>, p::opt<exponent>,
                       p::not_at<p::sor<p::identifier_other, p::one<'.'>>>> {};
struct whole_number : p::sor<number, p::failure> {};
struct number_value : p::if_must<p::at<p::sor<p::digit, p::one<'-'>>>, whole_number> {};

struct plain_characters { // the longest run with nothing special in it
    using rule_t = plain_characters;
    using subs_t = p::empty_list;
    template <typename Input>
    static bool match(Input& in) {
        const char* at = in.current();
        while (at != in.end() && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
        const auto length = static_cast<std::size_t>(at - in.current());
        in.bump_in_this_line(length);
        return length > 0;
    }
};
struct escape_code : p::sor<p::one<'"', '\\', '/', 'b', 'f', 'n', 'r', 't'>, p::seq<p::one<'u'>, p::rep<4, p::xdigit>>,
                            p::failure> {};
struct escape : p::if_must<p::one<'\\'>, escape_code> {};
struct characters : p::star<p::sor<plain_characters, escape>> {};
struct quote : p::one<'"'> {};
struct text_value : p::if_must<quote, characters, quote> {};

struct value;
struct list_start : p::one<'['> {};
struct list_end : p::one<']'> {};
struct list_close : p::seq<list_end> {};
struct item : p::seq<value> {};
struct next_item : p::seq<value> {};
struct list_items : p::seq<p::must<item>, space, p::star<p::if_must<comma, next_item, space>>, p::must<list_close>> {};
struct list_value : p::seq<list_start, space, p::sor<list_end, list_items>> {};

struct dict_start : p::one<'{'> {};
struct dict_end : p::one<'}'> {};
struct dict_close : p::seq<dict_end> {};
struct key : p::if_must<quote, characters, quote> {};
struct next_key : p::seq<key> {};
struct colon : p::one<':'> {};
struct entry_value : p::seq<value> {};
struct entry_rest : p::seq<space, p::must<colon>, space, p::must<entry_value>, space> {};
struct dict_entries : p::seq<p::must<key>, entry_rest, p::star<p::if_must<comma, next_key, entry_rest>>,
                             p::must<dict_close>> {};
struct dict_value : p::seq<dict_start, space, p::sor<dict_end, dict_entries>> {};

struct value : p::sor<text_value, number_value, list_value, dict_value, true_word, false_word, null_word, p::failure> {};

// --- nodes

struct on_word : p::seq<p::string<'o', 'n'>, word_end> {};
struct named_word : p::seq<p::string<'n', 'a', 'm', 'e', 'd'>, word_end> {};
struct method_ahead : p::seq<p::one<'.'>, p::sor<on_word, named_word>, p::one<'('>> {};
struct name : p::seq<p::identifier, p::star<p::not_at<method_ahead>, p::one<'.'>, p::identifier>> {};

struct keyword : p::identifier {};
struct next_keyword : p::seq<keyword> {};
struct equals : p::sor<p::seq<p::one<'='>, p::not_at<p::one<'='>>>, p::failure> {};
struct argument_value : p::seq<value> {};
struct argument_rest : p::seq<space, p::must<equals>, space, p::must<argument_value>, space> {};
struct arguments_close : p::one<')'> {};
struct argument_list : p::seq<p::must<keyword>, argument_rest, p::star<p::if_must<comma, next_keyword, argument_rest>>,
                              p::must<arguments_close>> {};
struct arguments : p::seq<p::one<'('>, space, p::sor<p::one<')'>, argument_list>> {};
struct node : p::seq<name, p::opt<arguments>> {};

struct method_open : p::one<'('> {};
struct method_close : p::one<')'> {};
struct device : p::seq<text_value> {};
struct id : p::seq<text_value> {};
struct on_method : p::if_must<on_word, method_open, space, device, space, method_close> {};
struct named_method : p::if_must<named_word, method_open, space, id, space, method_close> {};
struct known_method : p::sor<on_method, named_method, p::failure> {};
struct method : p::if_must<p::one<'.'>, known_method> {};

// --- expressions and statements

struct open : p::one<'('> {};
struct close : p::one<')'> {};
struct operand_node : p::seq<node> {};
struct operand : p::seq<p::star<open, space>, p::must<operand_node>, p::star<space, p::sor<close, method>>> {};
struct then_operator : p::seq<p::two<'>'>, p::not_at<p::one<'>'>>> {};
struct beside_operator : p::seq<p::one<'|'>, p::not_at<p::one<'|', '>'>>> {};
struct expression : p::seq<operand, p::star<space, p::sor<then_operator, beside_operator>, space, operand>> {};

struct binding_start : p::seq<p::identifier, line_space, p::one<'='>, p::not_at<p::one<'=', '>'>>, line_space> {};
struct graph_start : p::success {};
struct statement_end : p::seq<line_space, p::opt<comment>, p::eolf> {};
struct statement : p::seq<p::sor<binding_start, graph_start>, expression, p::must<statement_end>> {};
struct text : p::seq<p::opt<p::utf8::bom>, space, p::star<p::not_at<p::eof>, statement, space>> {};

// clang-format on

} // namespace soma::language::grammar

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "soma/detail/located.h"
#include "soma/error.h"
#include "soma/language.h"
#include "support/catch.h"
#include "support/plans.h"

namespace {

const std::vector<std::string> types{"text.read", "text.tokenize", "nn.bag", "nn.linear", "nn.encoder", "flow.join"};

std::string error_of(std::string_view text, std::string_view source = "") {
    try {
        static_cast<void>(soma::parse_wire(text, source, types));
    } catch (const soma::SyntaxError& error) {
        return error.what();
    }
    return "no error";
}

// "line:column: message", without the text that is shown.
std::string first_line(std::string_view text) {
    const std::string error = error_of(text);
    return error.substr(0, error.find('\n'));
}

} // namespace

TEST_CASE("an error shows file and line and column and the line and a caret") {
    CHECK(error_of("tokens = text.tokenize\ntokens >> nn.bga >> flow.join\n", "licence.soma") ==
          "licence.soma:2:11: unknown node type `nn.bga` (did you mean `nn.bag`?)\n"
          "tokens >> nn.bga >> flow.join\n"
          "          ^");
    CHECK(error_of("nn.bga") == "1:1: unknown node type `nn.bga` (did you mean `nn.bag`?)\nnn.bga\n^");
    try {
        static_cast<void>(soma::parse_wire("nn.bag\n  >> nn.bag(x=)"));
    } catch (const soma::SyntaxError& error) {
        CHECK(error.line() == 2);
        CHECK(error.column() == 15);
    }
}

TEST_CASE("columns count characters and the caret keeps to tabs") {
    CHECK(error_of("nn.bag(s=\"äöü€😀\", s=1)") == "1:19: argument `s` is given twice\n"
                                                  "nn.bag(s=\"äöü€😀\", s=1)\n"
                                                  "                  ^");
    CHECK(error_of("\tnn.bag\t>> nn.bga") == "1:12: unknown node type `nn.bga` (did you mean `nn.bag`?)\n"
                                             "\tnn.bag\t>> nn.bga\n"
                                             "\t      \t   ^");
    CHECK(error_of("nn.bag\r\n>> nn.bga\r\n") ==
          "2:4: unknown node type `nn.bga` (did you mean `nn.bag`?)\n>> nn.bga\n   ^");
    CHECK(error_of("\xef\xbb\xbfnn.bga").find("1:1: ") == 0);
}

TEST_CASE("a long line is shown around the place") {
    std::string text = "nn.bag";
    for (int i = 0; i < 1000; ++i) text += " >> nn.bag";
    const std::string error = error_of(text + " >> nn.bga" + text.substr(6));
    CHECK(error.size() < 400);
    CHECK(error.find("1:10011: ") == 0);
    const std::size_t caret = error.rfind('\n') + 1;
    const std::size_t line = error.rfind('\n', caret - 2) + 1;
    const std::size_t column = error.size() - 1 - caret;
    CHECK(error.substr(line + column + std::string_view("…").size() - 1, 6) == "nn.bga");
}

TEST_CASE("a name that is neither bound nor a type offers the nearest of both") {
    CHECK(first_line("tokens = text.tokenize\ntokns >> nn.bag") ==
          "2:1: unknown name `tokns` (did you mean `tokens`?); it is no binding above, and a node type is written "
          "`family.name`");
    CHECK(first_line("bag") ==
          "1:1: unknown name `bag` (did you mean `nn.bag`?); it is no binding above, and a node type is "
          "written `family.name`");
    CHECK(first_line("nn.quantise") == "1:1: unknown node type `nn.quantise`");
    CHECK(first_line("a = a >> nn.bag\na") == "1:5: `a` is bound to something that has it in it");
    // Without a list of types too, when it is near a binding.
    CHECK_THROWS_AS(soma::parse_wire("tokens = text.tokenize\ntokns >> tokens"), soma::SyntaxError);
}

TEST_CASE("a name that is used above where it is bound says so") {
    const std::string why = " is used above where it is bound, on line 2; bind it before it is used";
    CHECK(first_line("tokens >> nn.bag\ntokens = text.tokenize") == "1:1: `tokens`" + why);
    CHECK(first_line("x = y\ny = x\nx") == "1:5: `y`" + why);
    // Without a list of types too.
    try {
        static_cast<void>(soma::parse_wire("tokens >> nn.bag\ntokens = text.tokenize"));
        FAIL("no error");
    } catch (const soma::SyntaxError& error) {
        CHECK(std::string(error.what()).find("1:1: `tokens`" + why) == 0);
    }
}

TEST_CASE("a method with a space around its name says that the space is wrong") {
    CHECK(first_line("nn.bag . on(\"cpu\")") == "1:10: `.on` is written without a space: .on(\"cpu\")");
    CHECK(first_line("nn.bag.on (\"cpu\")") == "1:7: `.on` is written without a space before its `(`: .on(\"cpu\")");
    CHECK(first_line("nn.bag.named (x)") ==
          "1:7: `.named` is written without a space before its `(`: .named(\"encoder\")");
}

TEST_CASE("a method that there is not says which there are") {
    CHECK(first_line("nn.bag.place(\"cpu\")") == "1:7: unknown method `.place`; there are `.on` and `.named`");
    CHECK(first_line("nn.bag.at(\"cpu\")") == "1:7: unknown method `.at`; there are `.on` and `.named`");
    CHECK(first_line("t = nn.bag\nt.at(\"cpu\")") == "2:2: unknown method `.at`; there are `.on` and `.named`");
    try {
        static_cast<void>(soma::parse_wire("nn.bag.place(\"cpu\")"));
        FAIL("no error");
    } catch (const soma::SyntaxError& error) {
        CHECK(std::string(error.what()).find("unknown method `.place`") != std::string::npos);
    }
}

TEST_CASE("a device that is no text is shown as one that is good") {
    CHECK(first_line("nn.bag.on(0)") == "1:11: a device stands in quotes: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag.on(1)") == "1:11: a device stands in quotes: write .on(\"cuda:1\")");
    CHECK(first_line("nn.bag.on(gpu)") == "1:11: a device stands in quotes: write .on(\"cuda:0\")");
}

TEST_CASE("everything that reading can go on after is told at once") {
    std::vector<soma::detail::WireFault> faults;
    const auto located = soma::detail::read_wire(
        "a = nn.bga.on(\"gpu\")\nunused = nn.bag\na >> nn.bag(x=1, x=2).named(\"1\")", "", types, &faults);
    std::vector<std::string> places;
    for (const auto& fault : faults) places.push_back(fault.message.substr(0, 4));
    CHECK(places == std::vector<std::string>{"1:5:", "1:15", "3:18", "3:29", "2:1:"});
    REQUIRE(located.wired.graph.size() == 2);
    CHECK(located.offsets == std::vector<std::size_t>{4, 42});
    CHECK_THROWS_AS(soma::detail::read_wire("nn.bga", "", types), soma::SyntaxError);
}

TEST_CASE("what only the whole graph shows has its place too") {
    const auto said = [](std::string_view text) -> std::string {
        try {
            static_cast<void>(soma::detail::read_wire(text, "g.soma"));
        } catch (const soma::SyntaxError& error) {
            return std::string(error.what()).substr(0, std::string_view(error.what()).find('\n'));
        }
        return "no error";
    };
    CHECK(said("x = nn.bag\nx >> x") == "g.soma:2:3: node `x` is wired to itself");
    CHECK(said("x = nn.bag\nx.on(\"cpu\") | x.on(\"meta\")") ==
          "g.soma:2:20: node `x` is placed on both `cpu` and `meta`; a piece used twice is the same nodes, so place it "
          "once");
    CHECK(said("nn.bag >> nn.linear") == "no error");
}

TEST_CASE("an unknown method offers the nearest") {
    CHECK(first_line("nn.bag(dim=1).om(\"cpu\")") == "1:15: unknown method `.om` (did you mean `.on`?)");
    CHECK(first_line("nn.bag.om(\"cpu\")") == "1:7: unknown method `.om` (did you mean `.on`?)");
    CHECK(first_line("t = nn.bag\nt.name(\"x\")") == "2:2: unknown method `.name` (did you mean `.named`?)");
    CHECK(first_line("(nn.bag).place(\"cpu\")") == "1:10: unknown method `.place`; there are `.on` and `.named`");
    CHECK(first_line("nn.bag.on") == "1:7: `.on` needs a device: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag(dim=1).on") == "1:17: `(` is missing");
    CHECK(first_line("(nn.bag).") == "1:10: nothing follows the `.`");
}

TEST_CASE("a device without quotes or in single ones shows how to write it") {
    CHECK(first_line("nn.bag.on(cuda:0)") == "1:11: a device stands in quotes: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag.on('cuda:0')") == "1:11: texts stand in double quotes: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag.on(“cuda:0”)") == "1:11: texts stand in double quotes: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag.named(chars)") == "1:14: an id stands in quotes: write .named(\"chars\")");
    CHECK(first_line("nn.bag.on()") == "1:11: `.on` needs a device: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag.on(device=\"cpu\")") ==
          "1:11: `.on` takes a device and no name for it: write .on(\"cuda:0\")");
    CHECK(first_line("nn.bag.on(\"cpu\", \"meta\")") == "1:16: `.on` and `.named` take one text each");
    CHECK(first_line("nn.bag.om(cuda:0)") == "1:7: unknown method `.om` (did you mean `.on`?)");
}

TEST_CASE("a malformed device in text shows the place") {
    CHECK(error_of("nn.bag >> nn.encoder.on(\"cude:0\")") ==
          "1:25: unknown device kind `cude` in `cude:0` (did you mean `cuda`?); there are `cpu`, `cuda:N`, `meta`, "
          "`xpu:N`, "
          "`mps`, `hpu:N`\n"
          "nn.bag >> nn.encoder.on(\"cude:0\")\n"
          "                        ^");
    CHECK(first_line("nn.bag.on(\"cuda\")") == "1:11: `cuda` needs an index: write `cuda:0` for the first one");
}

TEST_CASE("operators of other languages are told which is ours") {
    CHECK(first_line("nn.bag -> nn.bag") == "1:8: `->` is not an operator: write `>>`");
    CHECK(first_line("nn.bag => nn.bag") == "1:8: `=>` is not an operator: write `>>`");
    CHECK(first_line("nn.bag > nn.bag") == "1:8: `>` is not an operator: write `>>`");
    CHECK(first_line("nn.bag >>> nn.bag") == "1:8: `>>>` is not an operator: write `>>`");
    CHECK(first_line("nn.bag || nn.bag") == "1:8: `||` is not an operator: write `|` between branches");
    CHECK(first_line("nn.bag |> nn.bag") == "1:8: `|>` is not an operator: write `>>` between a node and the next");
    CHECK(first_line("nn.bag & nn.bag") == "1:8: `&` is not an operator: write `|` between branches");
    CHECK(first_line("nn.bag, nn.bag") == "1:7: unexpected `,`: write `|` between branches");
    CHECK(first_line("nn.bag;") == "1:7: `;` has no place here: a statement ends with its line");
    CHECK(first_line("nn.bag // why") == "1:8: `//` begins no comment: write `#`");
}

TEST_CASE("an operator with nothing on one side says so") {
    CHECK(first_line("nn.bag >>") == "1:8: nothing follows `>>`: a node or a binding is wanted");
    CHECK(first_line("nn.bag >>\n\n# end\n") == "1:8: nothing follows `>>`: a node or a binding is wanted");
    CHECK(first_line("x =\nnn.bag") == "1:3: nothing follows `=`: a node or a binding is wanted");
    CHECK(first_line(">> nn.bag") == "1:1: nothing stands before `>>`");
    CHECK(first_line("nn.bag >> >> nn.bag") == "1:11: nothing stands between `>>` and `>>`");
    CHECK(first_line("nn.bag | >> nn.bag") == "1:10: nothing stands between `|` and `>>`");
    CHECK(first_line("(nn.bag |) >> nn.bag") == "1:10: nothing stands between `|` and `)`");
    CHECK(first_line("nn.bag nn.bag") == "1:8: unexpected `nn.bag`: `>>` or `|` is missing before it");
    CHECK(first_line("nn.bag (nn.bag)") ==
          "1:8: unexpected `(`: write `>>` or `|` between two pieces; arguments follow a "
          "node's name with no space");
    CHECK(first_line("\"nn.bag\"") == "1:1: a node or a binding is written without quotes");
    CHECK(first_line("3nn.bag") == "1:1: unexpected `3nn.bag`: a name begins with a letter");
}

TEST_CASE("a parenthesis that is not closed or not opened is shown") {
    CHECK(first_line("nn.bag >> (nn.bag | nn.bag") == "1:11: this `(` is not closed: a `)` is missing");
    CHECK(first_line("(nn.bag\nnn.bag)") == "1:1: this `(` is not closed: a `)` is missing");
    CHECK(first_line("nn.bag) >> nn.bag") == "1:7: this `)` closes nothing: there is no `(` before it");
    CHECK(first_line("() >> nn.bag") == "1:1: there is nothing between `(` and `)`");
    CHECK(first_line("nn.bag >> (") == "1:11: this `(` is not closed, and nothing follows it");
    CHECK(first_line("nn.bag(dim=1") == "1:7: this `(` is not closed: a `)` is missing");
    CHECK(first_line("nn.bag(dim=1 >> nn.bag") == "1:7: these arguments are not closed: a `)` is missing");
    CHECK(first_line(std::string(1001, '(') + "nn.bag") == "1:1001: parentheses are nested deeper than 1000 levels");
}

TEST_CASE("arguments are told apart from what they look like") {
    CHECK(first_line("nn.bag(256)") ==
          "1:8: `nn.bag` takes its arguments by name: write `name=value`, as in `dim=256`");
    CHECK(first_line("nn.bag(\"dim\"=256)") == "1:8: an argument's name has no quotes: write `dim=…`");
    CHECK(first_line("nn.bag(dim: 256)") == "1:11: write `=` between an argument's name and its value: `dim=…`");
    CHECK(first_line("nn.bag(dim==256)") == "1:11: write one `=`: `dim=…`");
    CHECK(first_line("nn.bag(lower)") ==
          "1:13: `lower` has no value: arguments are written `name=value`; for a switch write `lower=true`");
    CHECK(first_line("nn.bag(dim 256)") == "1:12: unexpected `256`: `=` and a value are wanted after `dim`");
    CHECK(first_line("nn.bag(dim=)") == "1:12: the value of `dim` is missing");
    CHECK(first_line("nn.bag(dim=256 ngram=3)") == "1:16: a comma is missing before `ngram`");
    CHECK(first_line("nn.bag(dim=256,)") == "1:16: there is no comma after the last argument; take it out");
    CHECK(first_line("nn.bag(,dim=256)") == "1:8: an argument is missing before this comma");
    CHECK(first_line("nn.bag(dim=1, dim=2)") == "1:15: argument `dim` is given twice");
    CHECK(first_line("t = nn.bag\nt(dim=1)") ==
          "2:2: `t` is a binding and takes no arguments; give them where it is bound, on line 1");
}

TEST_CASE("values that are not JSON say what JSON has") {
    CHECK(first_line("nn.bag(x=True)") == "1:10: `True` is no value: write x=true");
    CHECK(first_line("nn.bag(x=None)") == "1:10: `None` is no value: write x=null");
    CHECK(first_line("nn.bag(x=treu)") == "1:10: `treu` is no value (did you mean `true`?)");
    CHECK(first_line("nn.bag(x=mean)") == "1:10: `mean` is no value: a text stands in quotes, so write x=\"mean\"");
    CHECK(first_line("nn.bag(x='mean')") == "1:10: texts stand in double quotes: write x=\"mean\"");
    CHECK(first_line("nn.bag(x=NaN)") == "1:10: `NaN` is no value: JSON's numbers are finite");
    CHECK(first_line("nn.bag(x=01)") == "1:10: `01` is no value: a number has no leading zero");
    CHECK(first_line("nn.bag(x=1.)") == "1:10: `1.` is no value: a digit stands after the point");
    CHECK(first_line("nn.bag(x=.5)") ==
          "1:10: unexpected `.5`: a number has a digit before its point: write `0.5`, not `.5`");
    CHECK(first_line("nn.bag(x=+1)") == "1:10: unexpected `+`: a number has no `+` before it");
    CHECK(first_line("nn.bag(x=0x1f)") == "1:10: `0x1f` is no value: numbers are decimal");
    CHECK(first_line("nn.bag(x=1_000)") == "1:10: `1_000` is no value: a number has no `_` in it");
    CHECK(first_line("nn.bag(x=-)") == "1:10: `-` is no value: a digit must follow `-`");
    CHECK(first_line("nn.bag(x=1e999)") == "1:10: the number `1e999` does not fit a float");
    CHECK(first_line("nn.bag(x=(1, 2))") == "1:10: unexpected `(`: lists are written in `[` and `]`");
    CHECK(first_line("nn.bag(x=[1, 2,])") == "1:16: a list has no comma after its last item; take it out");
    CHECK(first_line("nn.bag(x=[1 2])") == "1:13: a comma is missing between two entries of the list");
    CHECK(first_line("nn.bag(x=[1)") == "1:12: unexpected `)`: `,` or `]` is wanted inside the list");
    CHECK(first_line("nn.bag(x={a: 1})") == "1:11: an object's key stands in double quotes: write \"a\"");
    CHECK(first_line("nn.bag(x={\"a\" 1})") == "1:15: `:` is missing after the key");
    CHECK(first_line("nn.bag(x={\"a\"=1})") == "1:14: inside an object `:` stands between key and value");
    CHECK(first_line("nn.bag(x={\"a\": 1, \"a\": 2})") == "1:19: key `a` is given twice");
    CHECK(first_line("nn.bag(x={\"a\": 1,})") == "1:18: an object has no comma after its last entry; take it out");
    CHECK(first_line("nn.bag(x=\"open)\nnn.bag") == "1:10: this text is not closed: a `\"` is missing");
    CHECK(first_line("nn.bag(x=\"a\tb\")") == "1:12: a control character stands in the text: write it as \\u0009");
    CHECK(first_line("nn.bag(x=\"\\q\")") ==
          "1:11: unknown escape `\\q`: there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX");
    CHECK(first_line("nn.bag(x=\"\\u12\")") == "1:11: `\\u` is followed by four hexadecimal digits");
    CHECK(first_line("nn.bag(x=\"\\ud800\")") ==
          "1:11: half of a surrogate pair stands alone; a character past U+FFFF is written as two `\\u`");
    CHECK(first_line("nn.bag(x=" + std::string(201, '[') + ")") == "1:210: values are nested deeper than 200 levels");
}

TEST_CASE("a binding that is given twice or never used is an error") {
    CHECK(first_line("x = nn.bag\n\nx = nn.encoder\nx") == "3:1: `x` is bound already, on line 1");
    CHECK(first_line("x = nn.bag\nnn.bag") ==
          "1:1: `x` is bound and never used, so its nodes would be left out; use it or take it out");
    CHECK(first_line("a.b = nn.bag\nnn.bag").find("1:1: ") == 0);
    CHECK(first_line("x = nn.bag y = nn.bag\nx >> y") ==
          "1:12: unexpected `y`: a statement begins on a line of its own");
}

TEST_CASE("a text has one graph") {
    CHECK(first_line("") == "1:1: the text has no graph: write one such as `text.tokenize >> nn.bag`");
    CHECK(first_line(" \n# nothing\n") == "1:1: the text has no graph: write one such as `text.tokenize >> nn.bag`");
    CHECK(first_line("x = nn.bag >> nn.bag") ==
          "1:21: the text binds names but has no graph: end it with one such as `x`, "
          "on a line of its own");
    CHECK(first_line("nn.bag\nnn.encoder") ==
          "2:1: a second graph begins here; the first is on line 1. Join the two with "
          "`>>` or `|`, or bind the first to a name");
}

TEST_CASE("two equal ids show the second and say where the first is") {
    CHECK(first_line("nn.bag.named(\"x\")\n>> nn.bag.named(\"x\")") == "2:17: another node is named `x`, on line 1");
    CHECK(first_line("x = nn.bag\nx >> nn.bag.named(\"x\")") ==
          "1:1: this binding names its node `x`, and so is another named, on line 2");
    CHECK(first_line("x = nn.bag.named(\"a\")\nx.named(\"b\")") == "2:9: this node is named `a` already, on line 1");
    CHECK(first_line("(nn.bag | nn.bag).named(\"x\")") ==
          "1:25: `x` cannot name a piece of several nodes; name one of its nodes");
    CHECK(first_line("nn.bag.named(\"two words\")") ==
          "1:14: `two words` cannot be a node's id: ids consist of letters, "
          "digits, `_`, `-` and `.`");
}

TEST_CASE("a text that is not text is refused with the place") {
    CHECK(first_line(std::string_view("nn.bag\n\0nn.bag", 14)) ==
          "2:1: the text has a NUL byte in it; is this a text file?");
    CHECK(error_of("nn.bag(s=\"\xff\")") ==
          "1:11: the text is not UTF-8: byte 0xff\nnn.bag(s=\"\xef\xbf\xbd\")\n          ^");
    CHECK(first_line("nn.bag\r>> nn.bag").find("1:7: ") == 0);
    CHECK(first_line("nn.bag \xc2\xa0>> nn.bag").find("1:8: unexpected `\xc2\xa0`") ==
          0); // a space that does not break
}

TEST_CASE("whatever is done to a text gives a wire or an error that shows the place") {
    const std::vector<std::string> seeds{
        "# licence.soma\ntokens = text.tokenize(lower=true)\ntokens >> (nn.bag(dim=256, ngram=1).on(\"cuda:0\") | "
        "nn.bag(dim=256, ngram=3).named(\"chars\").on(\"cuda:1\")) >> flow.join(mode=\"concat\").on(\"cuda:0\")\n",
        "nn.bag(a=[1, {\"b\": [null, true, -1.5e3]}, \"\\u00e4\\n\"], c={}, d=\"ä\") # end\r\n>> (nn.bag\n| nn.linear)",
        "a = nn.bag\nb = a\nc = (a | b >> nn.bag)\nc.on(\"cpu\")"};
    const std::string alphabet = "ab.(){}[]|>=,:\"'\\#\n\r\t 01-+eunot\xff\xc3\xa4";
    soma::test::Random random(11);
    std::size_t wires = 0;
    std::size_t errors = 0;
    for (int round = 0; round < 30'000; ++round) {
        std::string text = seeds[random.below(seeds.size())];
        for (std::size_t edits = 1 + random.below(4); edits > 0 && !text.empty(); --edits) {
            const std::size_t at = random.below(text.size());
            switch (random.below(5)) {
            case 0: text.erase(at, 1 + random.below(8)); break;
            case 1: text.insert(at, 1, alphabet[random.below(alphabet.size())]); break;
            case 2: text[at] = alphabet[random.below(alphabet.size())]; break;
            case 3: text.insert(at, text.substr(random.below(text.size()), random.below(20))); break;
            default: text.resize(at); break;
            }
        }
        INFO(text);
        try {
            const auto wire = soma::parse_wire(text, "fuzz", round % 2 == 0 ? types : std::vector<std::string>{});
            ++wires;
            try {
                static_cast<void>(soma::build(wire));
            } catch (const soma::GraphError&) { // what only the whole graph shows
            }
        } catch (const soma::SyntaxError& error) {
            ++errors;
            const std::string what = error.what();
            const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
            REQUIRE(what.find("fuzz:" + std::to_string(error.line()) + ":" + std::to_string(error.column()) + ": ") ==
                    0);
            REQUIRE(error.line() <= lines);
            REQUIRE(what.back() == '^');
            REQUIRE(what.find("too early; ") == std::string::npos);
        }
    }
    CHECK(wires > 1000);
    CHECK(errors > 10'000);
}

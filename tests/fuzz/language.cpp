// SPDX-License-Identifier: Apache-2.0
// Text of the wire language: whatever it is, it is read or refused by name, and what was read is written so that it reads
// the same again.
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"
#include "soma/error.h"
#include "soma/language.h"

using namespace soma;

std::vector<std::string> soma::test::seeds() {
    return {"a.b",
            "tokens = text.tokenize(lower=true)\n"
            "tokens >> (nn.bag(dim=256, ngram=1).on(\"cuda:0\") | nn.bag(dim=256).named(\"chars\")) >> flow.join\n",
            "# a comment\nx = a.b\ny = a.c(list=[1, -2.5e3, \"\\u00e9\", {\"k\": null}])\n(x | y) >> (a.d | a.e)\n",
            "((a.b >> a.c) | a.d.on(\"cpu\")).on(\"meta\")"};
}

std::vector<std::string> soma::test::words() {
    return {">>",   "|",    "(",       ")",        ".on(",    ".named(", "\"cuda:0\"", "\"cpu\"", "=",    ",",
            "\n",   "#",    "a.b",     "a.b(x=1)", "name = ", "name",    "[",          "]",       "{",    "}",
            "true", "null", "\\u0041", "\\ud800",  "1e999",   "-0",      "\xc3\xa9",   "\xff",    "\r\n", "\t"};
}

void soma::test::try_input(std::string_view text) {
    try {
        const Wired wired = build(parse_wire(text, "input"));
        const std::string written = to_wire_text(wired.graph, wired.placement);
        const Wired again = build(parse_wire(written, "written"));
        if (again.graph == wired.graph && again.placement == wired.placement) return;
        std::fprintf(stderr, "written as another graph:\n%s\n", written.c_str());
    } catch (const SyntaxError&) {
        return;
    } catch (const GraphError&) {
        return; // a cycle, an id given twice
    } catch (const DeviceError&) {
        return;
    } catch (const ValueError&) {
        return; // an argument given twice
    } catch (const std::exception& error) {
        std::fprintf(stderr, "refused without a name: %s\n", error.what());
    }
    std::abort();
}

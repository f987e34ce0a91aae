// SPDX-License-Identifier: Apache-2.0
#include "files.h"
#include "words.h"

#include <soma/sdk.h>

namespace text {
namespace {

using namespace soma::sdk;

/// The paths in an input: one string, or a list of them.
std::vector<std::string> paths_of(const Value& input) {
    if (input.is(Kind::string)) return {std::string{input.as_string()}};
    if (!input.is(Kind::list)) {
        throw Error{Code::type_mismatch,
                    "the input must be a path or a list of paths, not " + std::string{with_article(input.kind())}};
    }
    std::vector<std::string> paths;
    for (const Value& item : Items{input}) {
        paths.emplace_back(item.expect(Kind::string, "a path in the list").as_string());
    }
    return paths;
}

/// Every file that the paths lead to, directories opened.
std::vector<std::string> files_of(const Value& input) {
    std::vector<std::string> files;
    for (const std::string& path : paths_of(input)) {
        if (kind_of(path) == PathKind::file) {
            files.push_back(path);
        } else {
            for (std::string& file : files_in(path)) files.push_back(std::move(file));
        }
    }
    return files;
}

struct Files : Node {
    static NodeType describe() {
        return NodeType{"text.files"}
            .doc("Lists the files that paths lead to.\n"
                 "A directory stands for every regular file in it, sorted by name, symbolic links left out.")
            .input("paths", Kind::any, "a path, or a list of paths")
            .output("files", Kind::list, "paths of regular files")
            .reentrant();
    }
    using Node::Node;

    Value forward(const Ctx&, const Value& input) { return files_of(input); }
};

struct Names : Node {
    static NodeType describe() {
        return NodeType{"text.names"}
            .doc("Gives the last part of each path.")
            .input("paths", Kind::any, "a path, or a list of paths")
            .output("names", Kind::any, "a name, or a list of names")
            .reentrant()
            .example(R"(["/usr/share/doc/README", "notes.txt"])");
    }
    using Node::Node;

    Value forward(const Ctx&, const Value& input) {
        if (input.is(Kind::string)) return base_name(input.as_string());
        List names;
        for (const std::string& path : paths_of(input)) names.add(base_name(path));
        return names;
    }
};

struct Read : Node {
    static NodeType describe() {
        return NodeType{"text.read"}
            .doc("Reads the files that paths lead to, as text.\n"
                 "The path of a file gives one text. A directory, or a list of paths, gives a list of texts; a "
                 "directory "
                 "stands for every regular file in it, sorted by name, symbolic links left out. Bytes that are not "
                 "UTF-8 "
                 "become U+FFFD.")
            .input("paths", Kind::any, "a path, or a list of paths")
            .output("texts", Kind::any, "a text, or a list of texts")
            .reentrant();
    }
    using Node::Node;

    Value forward(const Ctx& ctx, const Value& input) {
        if (input.is(Kind::string)) {
            const std::string path{input.as_string()};
            if (kind_of(path) == PathKind::file) return read_file(path);
        }
        List texts;
        for (const std::string& file : files_of(input)) {
            ctx.stop_if_cancelled();
            texts.add(read_file(file));
        }
        return texts;
    }
};

struct Tokenize : Node {
    static NodeType describe() {
        return NodeType{"text.tokenize"}
            .doc("Splits text into words.\n"
                 "A word is a run of letters and digits of any script, with apostrophes within it.")
            .config(Bool("lower").defaults(true).doc("make capital letters small"))
            .input("texts", Kind::any, "a text, or a list of texts")
            .output("tokens", Kind::list, "the words of the text, or a list of words for each text")
            .reentrant()
            .example(R"("The quick brown fox doesn't jump")");
    }
    explicit Tokenize(const Create& create) : Node{create}, lower_{create.config().get_bool("lower")} {}

    Value forward(const Ctx& ctx, const Value& input) {
        if (input.is(Kind::string)) return tokens(input.as_string());
        if (!input.is(Kind::list)) {
            throw Error{Code::type_mismatch,
                        "the input must be a text or a list of texts, not " + std::string{with_article(input.kind())}};
        }
        List documents;
        for (const Value& item : Items{input}) {
            ctx.stop_if_cancelled();
            documents.add(tokens(item.expect(Kind::string, "a text in the list").as_string()));
        }
        return documents;
    }

private:
    Value tokens(std::string_view text) const {
        List words;
        WordSplitter{lower_}(text, [&](std::string_view word) { words.add(word); });
        return words;
    }

    bool lower_;
};

} // namespace
} // namespace text

SOMA_PLUGIN(soma::sdk::Plugin("text", "0.1.0").doc("Reading and splitting text.").license("Apache-2.0"), text::Files,
            text::Names, text::Read, text::Tokenize)

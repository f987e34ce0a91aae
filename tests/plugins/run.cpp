// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <fstream>
#include <sstream>

#include "soma/error.h"
#include "support/catch.h"
#include "support/paths.h"

namespace soma::test {

const Catalog& catalog() {
    static const Catalog all = [] {
        Catalog catalog;
        catalog.load_directory(shipped_plugins());
        catalog.load_directory(test_plugins("sample"));
        return catalog;
    }();
    return all;
}

Value run(std::string_view wire, const Value& input) {
    RunOptions options;
    options.seed = 1;
    return somatize(wire, catalog()).run(input, options);
}

std::string run_json(std::string_view wire, std::string_view input) {
    return to_json(run(wire, tensors_from_json(parse_json(input))));
}

std::string failure(std::string_view wire, const Value& input) {
    try {
        const Value result = run(wire, input);
        FAIL("`" << wire << "` did not fail but gave " << summary(result));
    } catch (const Error& error) {
        std::string text = error.what();
        const std::size_t added = text.rfind(" (");
        if (added != std::string::npos && text.find("plugin `", added) != std::string::npos) text.resize(added);
        return text;
    }
    return {};
}

std::string failure_json(std::string_view wire, std::string_view input) {
    return failure(wire, tensors_from_json(parse_json(input)));
}

Value list_of(const std::vector<std::string>& items) { return Value::list({items.begin(), items.end()}); }

std::vector<std::string> strings(const Value& list) {
    std::vector<std::string> items;
    for (std::size_t i = 0; i < list.size(); ++i) items.emplace_back(list.at(i).as_string());
    return items;
}

namespace {

void collect(const Value& value, std::vector<double>& out) {
    if (value.kind() == Kind::list) {
        for (std::size_t i = 0; i < value.size(); ++i) collect(value.at(i), out);
    } else {
        out.push_back(value.as_float());
    }
}

} // namespace

std::vector<double> numbers(const Value& tensor) {
    const Value json = parse_json(to_json(tensor));
    const Value* elements = json.find("tensor");
    REQUIRE(elements != nullptr);
    std::vector<double> out;
    collect(*elements, out);
    return out;
}

void write(const std::filesystem::path& file, std::string_view content) {
    std::ofstream out{file, std::ios::binary};
    out << content;
    REQUIRE(out.good());
}

std::string read(const std::filesystem::path& file) {
    const std::ifstream in{file, std::ios::binary};
    REQUIRE(in.good());
    std::ostringstream content;
    content << in.rdbuf();
    return content.str();
}

bool holds(std::string_view text, std::string_view part) {
    UNSCOPED_INFO("`" << text << "` should hold `" << part << "`");
    return text.find(part) != std::string_view::npos;
}

} // namespace soma::test

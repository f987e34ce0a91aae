// SPDX-License-Identifier: Apache-2.0
// Every operation of the SDK against numbers worked out by hand.
#include <algorithm>
#include <cmath>
#include <set>

#include "run.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

/// The result as nested lists of numbers: a tensor gives its elements, true is 1.
Value plain(const Value& value) {
    const Value* elements = value.find("tensor");
    if (elements != nullptr) return plain(*elements);
    if (value.kind() == Kind::boolean) return value.as_bool() ? 1.0 : 0.0;
    if (value.kind() == Kind::integer) return value.as_float();
    if (value.kind() != Kind::list) return value;
    std::vector<Value> items;
    for (std::size_t i = 0; i < value.size(); ++i) items.push_back(plain(value.at(i)));
    return Value::list(std::move(items));
}

Value result_of(const std::string& operation, std::string_view input) {
    return plain(parse_json(run_json("sample.ops(name=\"" + operation + "\")", input)));
}

bool close(const Value& a, const Value& b) {
    if (a.kind() != b.kind() || a.size() != b.size()) return false;
    if (a.kind() == Kind::real) return a.as_float() == Approx(b.as_float()).margin(1e-5);
    if (a.kind() != Kind::list) return a == b;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!close(a.at(i), b.at(i))) return false;
    }
    return true;
}

struct Case {
    std::string operation;
    std::string expected; ///< for a = [[1, 2], [3, 4]] and b = [[2, 2], [1, 5]]
};

const char* const a_and_b = R"([{"tensor": [[1.0, 2.0], [3.0, 4.0]]}, {"tensor": [[2.0, 2.0], [1.0, 5.0]]}])";

const std::vector<Case> cases{
    {"add", "[[3, 4], [4, 9]]"},
    {"sub", "[[-1, 0], [2, -1]]"},
    {"mul", "[[2, 4], [3, 20]]"},
    {"div", "[[0.5, 1], [3, 0.8]]"},
    {"add number", "[[3, 4], [5, 6]]"},
    {"sub number", "[[3, 2], [1, 0]]"},
    {"mul number", "[[6, 12], [18, 24]]"},
    {"div number", "[[8, 4], [2.6666667, 2]]"},
    {"neg", "[[-1, -2], [-3, -4]]"},
    {"reciprocal", "[[1, 0.5], [0.3333333, 0.25]]"},
    {"eq", "[[[0, 1], [0, 0]], [[0, 1], [0, 0]]]"},
    {"ne", "[[[1, 0], [1, 1]], [[1, 0], [1, 1]]]"},
    {"lt", "[[[1, 0], [0, 1]], [[1, 0], [0, 0]]]"},
    {"le", "[[[1, 1], [0, 1]], [[1, 1], [0, 0]]]"},
    {"gt", "[[[0, 0], [1, 0]], [[0, 0], [1, 1]]]"},
    {"ge", "[[[0, 1], [1, 0]], [[0, 1], [1, 1]]]"},
    {"exp", "[[2.7182818, 7.3890561], [20.0855369, 54.5981500]]"},
    {"log", "[[0, 0.6931472], [1.0986123, 1.3862944]]"},
    {"sqrt", "[[1, 1.4142136], [1.7320508, 2]]"},
    {"rsqrt", "[[1, 0.7071068], [0.5773503, 0.5]]"},
    {"sin", "[[0.8414710, 0.9092974], [0.1411200, -0.7568025]]"},
    {"cos", "[[0.5403023, -0.4161468], [-0.9899925, -0.6536436]]"},
    {"tanh", "[[0.7615942, 0.9640276], [0.9950548, 0.9993293]]"},
    {"sigmoid", "[[0.7310586, 0.8807971], [0.9525741, 0.9820138]]"},
    {"gelu", "[[0.8413447, 1.9544997], [2.9959502, 3.9998733]]"},
    {"pow", "[[1, 8], [27, 64]]"},
    {"clamp", "[[[1, 2], [2, 2]], [[1, 2], [2, 2]]]"},
    {"minimum", "[[1, 2], [1, 4]]"},
    {"maximum", "[[2, 2], [3, 5]]"},
    {"where", "[[2, 2], [3, 5]]"},
    {"masked_fill", "[[1, 2], [-1, -1]]"},
    {"logical_not", "[[0, 0], [0, 0]]"},
    {"softmax", "[[0.2689414, 0.7310586], [0.2689414, 0.7310586]]"},
    {"log_softmax", "[[-1.3132617, -0.3132617], [-1.3132617, -0.3132617]]"},
    {"sum", "[10, [3, 7], [[4, 6]]]"},
    {"mean", "[2.5, [1.5, 3.5], [[2, 3]]]"},
    {"max", "[4, [2, 4], [1, 1]]"},
    {"min", "[1, [1, 3], [0, 0]]"},
    {"cumsum", "[[1, 3], [3, 7]]"},
    {"any", "[1, 0]"},
    {"norm", "[2.2360680, 5]"},
    {"normalize", "[[0.4472136, 0.8944272], [0.6, 0.8]]"},
    {"topk", "[[[2], [4]], [[1], [1]]]"},
    {"sort", "[[[2, 1], [4, 3]], [[1, 0], [1, 0]]]"},
    {"reshape", "[1, 2, 3, 4]"},
    {"transpose", "[[[1, 3], [2, 4]], [[1, 3], [2, 4]], [[1, 3], [2, 4]]]"},
    {"squeeze", "[[1, 2], [3, 4]]"},
    {"unsqueeze", "[[[1, 2]], [[3, 4]]]"},
    {"expand", "[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]"},
    {"flatten", "[1, 2, 3, 4]"},
    {"select", "[[3, 4], [[1], [3]]]"},
    {"index_select", "[[3, 4]]"},
    {"gather", "[[2], [3]]"},
    {"flip", "[[3, 4], [1, 2]]"},
    {"cat", "[[1, 2, 2, 2], [3, 4, 1, 5]]"},
    {"stack", "[[[1, 2], [3, 4]], [[2, 2], [1, 5]]]"},
    {"clone", "[[1, 2], [3, 4]]"},
    {"to_dtype", "[[1, 2], [3, 4]]"},
    {"matmul", "[[[4, 12], [10, 26]], [[4, 12], [10, 26]]]"},
    {"bmm", "[[[4, 12], [10, 26]]]"},
    {"dot", "29"},
    {"linear", "[[[6, 11], [14, 23]], [[7, 12], [15, 24]]]"},
    {"embedding", "[[1, 2]]"},
    {"layer_norm", "[[-0.99998, 0.99998], [-0.99998, 0.99998]]"},
    {"mse_loss", "1.5"},
    {"create", "[[0, 0], [1], [1.5, 1.5], [2, 3, 4], [[0, 0], [0, 0]], [[1, 1], [1, 1]]]"},
    {"call", "[[0, 0], [3, 0]]"},
    {"item", "[10, 7, 1]"},
    {"vector", "[[1, 3, 2, 4], [1, 2, 3, 4]]"},
    {"memory", "[[9, 2], [3, 4]]"},
};

} // namespace

TEST_CASE("every operation of the SDK gives what is worked out by hand") {
    for (const Case& one : cases) {
        const Value result = result_of(one.operation, a_and_b);
        CAPTURE(one.operation, to_json(result), one.expected);
        CHECK(close(result, plain(parse_json(one.expected))));
    }
}

TEST_CASE("operations of the SDK work out sizes where there is no data (meta)") {
    // These read numbers, or are not on meta in the oldest libtorch that is supported.
    const std::set<std::string> not_there{"item",  "vector", "memory",       "create",    "abs",
                                          "where", "flip",   "index_select", "layer_norm"};
    const auto sizes = [](const Value& value) {
        std::string text = summary(value);
        text.resize(std::min(text.size(), text.find(" on ")));
        return text;
    };
    const Value input = tensors_from_json(parse_json(a_and_b));
    for (const Case& one : cases) {
        if (not_there.count(one.operation) != 0) continue;
        CAPTURE(one.operation);
        const std::string wire = "sample.ops(name=\"" + one.operation + "\")";
        const Value here = run(wire, input);
        const Value there = run("flow.to.on(\"meta\") >> " + wire + ".on(\"meta\")", input);
        REQUIRE(here.size() == there.size());
        if (here.kind() != Kind::list) CHECK(sizes(here) == sizes(there));
        for (std::size_t i = 0; i < here.size(); ++i) CHECK(sizes(here.at(i)) == sizes(there.at(i)));
    }
}

TEST_CASE("operations of the SDK on negative numbers") {
    const char* const x = R"([{"tensor": [-1.5, 0.0, 2.5]}])";
    CHECK(close(result_of("abs", x), plain(parse_json("[1.5, 0, 2.5]"))));
    CHECK(close(result_of("sign", x), plain(parse_json("[-1, 0, 1]"))));
    CHECK(close(result_of("relu", x), plain(parse_json("[0, 0, 2.5]"))));
    CHECK(close(result_of("floor", x), plain(parse_json("[-2, 0, 2]"))));
    CHECK(close(result_of("round", x), plain(parse_json("[-2, 0, 2]"))));
    CHECK(close(result_of("isnan", x), plain(parse_json("[1, 0, 0]"))));
    CHECK(close(result_of("logical_not", x), plain(parse_json("[0, 1, 0]"))));
}

TEST_CASE("a tensor tells the SDK what it is") {
    CHECK(parse_json(run_json("sample.ops(name=\"facts\")", R"([{"tensor": [[1, 2, 3]], "dtype": "int64"}])")) ==
          parse_json(R"({"device": "cpu", "dtype": "int64", "sizes": [1, 3], "text": "[1, 3]", "numel": 3, "dim": 2,
                         "last": 3, "grad": false})"));
    CHECK(summary(run("sample.ops(name=\"empty\")", Value::list({}))) == "tensor float32[2, 3] on cpu");
}

TEST_CASE("the SDK lends memory only as what it is") {
    const auto fails = [](const std::string& name) {
        return failure_json("sample.ops(name=\"" + name + "\")", R"([{"tensor": [[1.0, 2.0], [3.0, 4.0]]}])");
    };
    CHECK(holds(fails("memory of another dtype"), "the tensor's elements are float32, not float64"));
    CHECK(holds(fails("memory not contiguous"), "the tensor is not contiguous: call contiguous() first"));
    CHECK(holds(fails("memory on meta"), "its memory is on `meta` and can only be read on `cpu`: move it there first"));
    CHECK(holds(fails("wrong sizes"), "3 elements do not fill a tensor of sizes [2, 2]"));
}

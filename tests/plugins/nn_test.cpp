// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "run.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
    return total;
}

Value json(std::string_view text) { return tensors_from_json(parse_json(text)); }

std::vector<std::string> parameters(std::string_view wire) {
    std::vector<std::string> facts;
    const Pipeline pipeline = somatize(wire, catalog());
    for (const State& state : pipeline.parameters()) facts.push_back(state.name + " " + summary(state.value));
    return facts;
}

} // namespace

TEST_CASE("nn.bag gives one vector for a document and a matrix for a list of them") {
    CHECK(summary(run("text.tokenize >> nn.bag", "to be or not to be")) == "tensor float32[256] on cpu");
    CHECK(summary(run("text.tokenize >> nn.bag(dim=16)", list_of({"to be", "or not", ""}))) ==
          "tensor float32[3, 16] on cpu");
    CHECK(summary(run("nn.bag(dim=16)", "a plain text")) == "tensor float32[16] on cpu");
}

TEST_CASE("nn.bag says where something is that is no token") {
    const std::string wanted =
        "the input must be a list of tokens, or a list of such lists, and nothing else in it, but ";
    CHECK(failure_json("nn.bag", R"(["a", ["b"]])") == "node `bag` failed: " + wanted + "`[1]` is a list");
    CHECK(failure_json("nn.bag", R"([["a"], "b"])") == "node `bag` failed: " + wanted + "`[1]` is a string");
    CHECK(failure_json("nn.bag", R"([["a"], ["b", 5]])") == "node `bag` failed: " + wanted + "`[1][1]` is an int");
}

TEST_CASE("nn.bag reads a plain text as the words between white space") {
    CHECK(numbers(run("nn.bag(dim=32)", " to  be\nor\t")) ==
          numbers(run("nn.bag(dim=32)", list_of({"to", "be", "or"}))));
}

TEST_CASE("nn.bag gives vectors of length 1 and sums when told not to normalize") {
    const auto unit = numbers(run("nn.bag(dim=64)", "to be or not to be"));
    CHECK(dot(unit, unit) == Approx(1));
    const auto nothing = numbers(run("nn.bag(dim=64)", ""));
    CHECK(dot(nothing, nothing) == 0);
    const auto once = numbers(run("nn.bag(dim=64, normalize=false)", "be"));
    const auto twice = numbers(run("nn.bag(dim=64, normalize=false)", "be be"));
    CHECK(dot(once, once) == Approx(1));
    for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == 2 * once[i]);
}

TEST_CASE("nn.bag counts n-grams of words in order and of characters across words") {
    const auto bag = [](std::string_view config, const char* text) {
        return numbers(run("nn.bag(dim=64, " + std::string{config} + ")", text));
    };
    CHECK(bag("ngram=1", "dog bites man") == bag("ngram=1", "man bites dog"));
    CHECK(bag("ngram=2", "dog bites man") != bag("ngram=2", "man bites dog"));
    CHECK(bag("ngram=2", "a b a") != bag("ngram=2", "a a b"));
    CHECK(bag("ngram=3, unit=\"chars\"", "ab cd") != bag("ngram=3, unit=\"chars\"", "cd ab"));
    CHECK(bag("ngram=1, unit=\"chars\"", "äb") == bag("ngram=1, unit=\"chars\"", "bä"));
    CHECK(bag("ngram=9", "too short") != bag("ngram=9", "to short"));
}

TEST_CASE("nn.bag follows from its configuration alone") {
    const auto first = numbers(run("nn.bag(dim=32).named(\"a\")", "to be"));
    PipelineOptions other;
    other.seed = 99;
    CHECK(numbers(somatize("nn.bag(dim=32).named(\"b\")", catalog(), other).run("to be")) == first);
    CHECK(numbers(run("nn.bag(dim=32, seed=1)", "to be")) != first);
}

TEST_CASE("nn.bag keeps cosines of counts") {
    // Four words of which three are shared: 3 / 4. The estimate's error at 1024 dimensions is about 0.01.
    const auto a = numbers(run("nn.bag(dim=1024)", "north east south west"));
    const auto b = numbers(run("nn.bag(dim=1024)", "north east south up"));
    CHECK(dot(a, b) == Approx(0.75).margin(0.06));
}

TEST_CASE("nn.bag and nn.encoder of more documents than are looked up at once agree with one at a time") {
    std::vector<std::string> texts;
    for (int i = 0; i < 9; ++i) texts.push_back("text number " + std::to_string(i));
    for (const std::string wire : {"nn.bag(dim=8, buckets=1048576)", "nn.encoder(dim=4, out=8, buckets=1048576)"}) {
        Pipeline pipeline = somatize("text.tokenize >> " + wire, catalog());
        const auto all = numbers(pipeline.run(list_of(texts)));
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto one = numbers(pipeline.run(texts[i]));
            for (std::size_t j = 0; j < one.size(); ++j) CHECK(all[i * 8 + j] == Approx(one[j]).margin(1e-5));
        }
    }
}

TEST_CASE("nn.bag and nn.encoder say what they want") {
    for (const std::string wire : {"nn.bag", "nn.encoder"}) {
        CHECK(holds(failure(wire, 5), "the input must be tokens, lists of tokens or a text, not an int"));
        CHECK(holds(failure_json(wire, R"([["a"], "b"])"), "a list of tokens, or a list of such lists"));
    }
    CHECK(holds(failure("nn.bag(dmi=4)", "a"), "dim"));
    CHECK(holds(failure("nn.bag(dim=0)", "a"), "dim"));
}

TEST_CASE("nn.encoder gives the mean of embeddings through a linear map") {
    CHECK(summary(run("nn.encoder", "to be")) == "tensor float32[64] on cpu");
    CHECK(summary(run("text.tokenize >> nn.encoder(dim=8, out=4)", list_of({"to be", "or"}))) ==
          "tensor float32[2, 4] on cpu");
    // A mean does not change when every word comes twice.
    const auto once = numbers(run("nn.encoder(out=8)", "to be"));
    const auto twice = numbers(run("nn.encoder(out=8)", "to be to be"));
    for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == Approx(once[i]).margin(1e-6));
}

TEST_CASE("nn.linear maps the last dimension") {
    CHECK(summary(run("nn.linear(in=3, out=2)", json(R"({"tensor": [[1.0, 2.0, 3.0]]})"))) ==
          "tensor float32[1, 2] on cpu");
    CHECK(summary(run("nn.linear(in=3, out=2)", parse_json("[1, 2, 3]"))) == "tensor float32[2] on cpu");
    CHECK(numbers(run("nn.linear(in=3, out=2, bias=false)", parse_json("[0, 0, 0]"))) == std::vector<double>{0, 0});
    CHECK(numbers(run("nn.linear(in=3, out=2)", parse_json("[0, 0, 0]"))) != std::vector<double>{0, 0});
}

TEST_CASE("nn.linear says which sizes do not fit") {
    CHECK(failure("nn.linear(in=3, out=2)", parse_json("[1, 2]")) ==
          "node `linear` failed: the input's last size must be 3 (`in`), but its sizes are [2]");
    CHECK(holds(failure("nn.linear(in=3, out=2)", "text"),
                "the input must be a tensor, or numbers in lists, not a string"));
    CHECK(holds(failure("nn.linear(in=2, out=2)", parse_json("[[1, 2], [3]]")),
                "the input has lists of unequal length, 2 and 1"));
    CHECK(holds(failure("nn.linear(in=2, out=2)", parse_json("[[1, 2], 3]")), "the input has lists of unequal depth"));
    CHECK(holds(failure("nn.linear(out=2)", parse_json("[1]")), "`in`"));
}

TEST_CASE("weights that no machine can hold are an error and not a crash") {
    CHECK(holds(failure("nn.linear(in=1048576, out=1048576)", 1),
                "weights of sizes [1048576, 1048576] are more than a node can hold"));
    CHECK(holds(failure("nn.embedding(count=268435456, dim=1048576)", 1),
                "weights of sizes [268435456, 1048576] are more than a node can hold"));
}

TEST_CASE("weights follow from the pipeline's seed and the node's id") {
    const auto weights = [](std::string_view wire, std::uint64_t seed) {
        PipelineOptions options;
        options.seed = seed;
        return numbers(somatize(wire, catalog(), options).parameters().at(0).value);
    };
    const auto first = weights("nn.linear(in=3, out=2)", 1);
    CHECK(weights("nn.linear(in=3, out=2)", 1) == first);
    CHECK(weights("nn.linear(in=3, out=2)", 2) != first);
    CHECK(weights("nn.linear(in=3, out=2).named(\"other\")", 1) != first);
    for (const double weight : first) CHECK(std::abs(weight) <= 1 / std::sqrt(3.0));
}

TEST_CASE("nn.relu keeps what is positive") {
    CHECK(numbers(run("nn.relu", json(R"({"tensor": [[1.0, -2.0, 0.0, 3.5]]})"))) == std::vector<double>{1, 0, 0, 3.5});
    CHECK(numbers(run("nn.relu", parse_json("[-1, 1]"))) == std::vector<double>{0, 1});
}

TEST_CASE("nn.embedding looks indices up") {
    CHECK(summary(run("nn.embedding(count=10, dim=4)", parse_json("[1, 2, 1]"))) == "tensor float32[3, 4] on cpu");
    CHECK(summary(run("nn.embedding(count=10, dim=4)", parse_json("[[1, 2], [3, 9]]"))) ==
          "tensor float32[2, 2, 4] on cpu");
    const auto rows = numbers(run("nn.embedding(count=10, dim=2)", parse_json("[1, 2, 1]")));
    CHECK(rows[0] == rows[4]);
    CHECK(rows[1] == rows[5]);
    CHECK(rows[0] != rows[2]);
}

TEST_CASE("nn.embedding names an index that is not there") {
    CHECK(failure("nn.embedding(count=10, dim=4)", parse_json("[1, 10]")) ==
          "node `embedding` failed: the index 10 is not among 0 to 9 (`count` is 10)");
    CHECK(failure("nn.embedding(count=10, dim=4)", parse_json("[-1]")) ==
          "node `embedding` failed: the index -1 is not among 0 to 9 (`count` is 10)");
    CHECK(holds(failure("nn.embedding(count=10, dim=4)", json(R"({"tensor": [1.5]})")),
                "indices must be whole numbers, not float32: convert them before"));
}

TEST_CASE("nn.similarity compares rows with rows and all with all") {
    const char* const two = R"([{"tensor": [[1.0, 0.0], [3.0, 4.0]]}, {"tensor": [[2.0, 0.0], [4.0, 3.0]]}])";
    const auto rows = numbers(run("nn.similarity", json(two)));
    REQUIRE(rows.size() == 2);
    CHECK(rows[0] == Approx(1));
    CHECK(rows[1] == Approx(0.96));
    const auto pairs = numbers(run("nn.similarity(mode=\"pairs\")", json(two)));
    REQUIRE(pairs.size() == 4);
    CHECK(pairs[1] == Approx(0.8));
    CHECK(pairs[2] == Approx(0.6));
    const auto own = numbers(run("nn.similarity", json(R"({"tensor": [[1.0, 0.0], [3.0, 4.0]]})")));
    REQUIRE(own.size() == 4);
    CHECK(own[0] == Approx(1));
    CHECK(own[1] == Approx(0.6));
    CHECK(own[2] == Approx(0.6));
}

TEST_CASE("nn.similarity says what does not fit (meta)") {
    CHECK(holds(failure_json("nn.similarity", R"([[1, 2], [1, 2, 3]])"),
                "vectors of sizes [2] and [3] differ in length"));
    CHECK(holds(failure_json("nn.similarity", R"({"tensor": [1.0]})"), "needs matrices, not sizes [1]"));
    CHECK(failure_json(R"((flow.identity | flow.to.on("meta")) >> nn.similarity)", R"({"tensor": [[1.0, 2.0]]})") ==
          "node `similarity` failed: cannot compare tensors on `cpu` and `meta`: place it, for example with "
          "`.on(\"cpu\")`, "
          "and it moves them there");
}

TEST_CASE("every shipped nn node with parameters exposes them by name") {
    CHECK(parameters("nn.bag(dim=4, buckets=8)") == std::vector<std::string>{"bag.weight tensor float32[8, 4] on cpu"});
    CHECK(parameters("nn.linear(in=3, out=2)") == std::vector<std::string>{"linear.weight tensor float32[2, 3] on cpu",
                                                                           "linear.bias tensor float32[2] on cpu"});
    CHECK(parameters("nn.linear(in=3, out=2, bias=false)").size() == 1);
    CHECK(parameters("nn.embedding(count=5, dim=2)") ==
          std::vector<std::string>{"embedding.weight tensor float32[5, 2] on cpu"});
    CHECK(parameters("nn.encoder(dim=4, out=2, buckets=8)") ==
          std::vector<std::string>{"encoder.embedding.weight tensor float32[8, 4] on cpu",
                                   "encoder.linear.weight tensor float32[2, 4] on cpu",
                                   "encoder.linear.bias tensor float32[2] on cpu"});
    CHECK(parameters("nn.relu").empty());
    CHECK(parameters("nn.similarity").empty());
}

TEST_CASE("every shipped nn node runs end to end on a device that holds no data (meta)") {
    const auto on_meta = [](std::string wire, const Value& input) {
        return summary(run("(" + wire + ").on(\"meta\")", input));
    };
    const Value matrix = json(R"({"tensor": [[1.0, 2.0], [3.0, 4.0]]})");
    CHECK(on_meta("nn.bag(dim=8)", list_of({"to", "be"})) == "tensor float32[8] on meta");
    CHECK(on_meta("nn.encoder(out=8)", list_of({"to", "be"})) == "tensor float32[8] on meta");
    CHECK(on_meta("nn.linear(in=2, out=3)", matrix) == "tensor float32[2, 3] on meta");
    CHECK(on_meta("nn.embedding(count=9, dim=3)", parse_json("[[1, 2], [3, 4]]")) == "tensor float32[2, 2, 3] on meta");
    CHECK(on_meta("nn.relu", matrix) == "tensor float32[2, 2] on meta");
    CHECK(on_meta("nn.similarity", matrix) == "tensor float32[2, 2] on meta");
    CHECK(on_meta("nn.similarity", Value::list({matrix, matrix})) == "tensor float32[2] on meta");
    CHECK(on_meta("text.tokenize >> (nn.bag(dim=8) | nn.encoder(out=8)) >> flow.join(mode=\"concat\") "
                  ">> nn.linear(in=16, out=4) >> nn.relu >> nn.similarity",
                  list_of({"to be", "or not", "to be"})) == "tensor float32[3, 3] on meta");
}

TEST_CASE("a node placed on meta and back keeps its weights (meta)") {
    Pipeline pipeline = somatize("nn.linear(in=2, out=2)", catalog());
    const Value input = parse_json("[1, 2]");
    const auto before = numbers(pipeline.run(input));
    pipeline.place("linear", "meta");
    CHECK(summary(pipeline.run(input)) == "tensor float32[2] on meta");
    pipeline.place("linear", "cpu");
    CHECK(numbers(pipeline.run(input)) == before);
}

TEST_CASE("an unplaced node with parameters does not follow its input to meta but says so (meta)") {
    CHECK(failure(R"(flow.to.on("meta") >> nn.linear(in=1, out=1))", json(R"({"tensor": [1.0]})")) ==
          "node `linear` failed: its input is on `meta` and its parameters are on `cpu`, and it is placed nowhere: "
          "place it "
          "with `.on(\"meta\")`");
}

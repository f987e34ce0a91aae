// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "documents.h"

namespace nn {

/// `nn.bag`: documents as sums of the table's rows of their hashed n-grams.
class Bag : public soma::sdk::Node {
public:
    static soma::sdk::NodeType describe() {
        using namespace soma::sdk;
        return NodeType{"nn.bag"}
            .doc("Turns documents into vectors: the sum of a table's rows over their hashed n-grams.\n"
                 "The table follows from `seed` alone, so two bags with the same configuration agree everywhere. "
                 "Cosines "
                 "between documents are close to those of exact counts, the closer the larger `dim`.")
            .config(Int("dim").defaults(256).min(1).max(4096).doc("length of a vector"))
            .config(Int("ngram").defaults(1).min(1).max(64).doc("how many tokens or characters in a row"))
            .config(String("unit")
                        .choices({"words", "chars"})
                        .defaults("words")
                        .doc("n-grams of tokens, or of the characters of the tokens joined by spaces"))
            .config(
                Int("buckets").defaults(8192).min(1).max(1 << 20).doc("rows of the table that n-grams are hashed to"))
            .config(Bool("normalize").defaults(true).doc("scale each vector to length 1"))
            .config(Int("seed").defaults(0).doc("of the table"))
            .input("tokens", Kind::any, "a list of tokens, a list of such lists, or a text")
            .output("vectors", Kind::tensor, "[dim] for one document, [documents, dim] for a list of them")
            .differentiable()
            .example(R"([["to", "be", "or", "not", "to", "be"], ["not", "to", "be"]])");
    }

    explicit Bag(const soma::sdk::Create& create)
        : Node{create}, features_{features(create)},
          normalize_{create.config().get_bool("normalize")}, table_{parameter("weight", initial(create, features_))} {}

    soma::sdk::Tensor forward(const soma::sdk::Ctx& ctx, const soma::sdk::Value& input) {
        if (const auto device = ctx.device()) to(*device); // unplaced, it stays: words are nowhere
        const soma::sdk::Tensor sums = look_up(read_documents(input), features_, table_, false);
        return normalize_ ? soma::sdk::normalize(sums) : sums;
    }

private:
    static Features features(const soma::sdk::Create& create) {
        const auto& config = create.config();
        Features features;
        features.characters = config.get_string("unit") == "chars";
        features.ngram = static_cast<std::size_t>(config.get_int("ngram"));
        features.buckets = config.get_int("buckets");
        features.is_signed = true;
        return features;
    }

    /// Signs, scaled so that each row has length 1. Like a table of normal numbers they keep cosines, and each costs one
    /// random bit instead of two logarithms.
    static soma::sdk::Tensor initial(const soma::sdk::Create& create, const Features& features) {
        const std::int64_t dim = create.config().get_int("dim");
        const float size = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
        // Other features get other tables: vectors that are joined should not repeat one another's errors.
        const std::uint64_t kind = features.ngram * 2 + (features.characters ? 1 : 0);
        soma::sdk::Random random{static_cast<std::uint64_t>(create.config().get_int("seed")) ^
                                 soma::sdk::Random{kind}.bits()};
        std::uint64_t bits = 0;
        unsigned left = 0;
        return soma::sdk::Init{create}.fill({features.buckets, dim}, [&] {
            if (left == 0) {
                bits = random.bits();
                left = 64;
            }
            const bool negative = (bits & 1U) != 0;
            bits >>= 1U;
            --left;
            return negative ? -size : size;
        });
    }

    Features features_;
    bool normalize_;
    const soma::sdk::Tensor& table_;
};

} // namespace nn

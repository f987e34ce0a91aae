// SPDX-License-Identifier: Apache-2.0
#include "documents.h"
#include "layers.h"

namespace nn {

using namespace soma::sdk;

NodeType Embedding::describe() {
    return NodeType{"nn.embedding"}
        .doc("Looks up a trained vector for each index.")
        .config(
            Int("count").required().min(1).max(1 << 28).doc("how many vectors there are; indices are 0 to count - 1"))
        .config(Int("dim").required().min(1).max(1 << 20).doc("length of a vector"))
        .input("indices", Kind::any, "a tensor of whole numbers, or whole numbers in lists")
        .output("vectors", Kind::tensor, "the indices' sizes, then dim")
        .differentiable()
        .example(R"([[0, 0], [0, 0]])");
}

Embedding::Embedding(const Create& create)
    : Node{create}, count_{create.config().get_int("count")},
      table_{parameter("weight", Init{create}.normal({count_, create.config().get_int("dim")}))} {}

Tensor Embedding::forward(const Ctx& ctx, const Value& input) {
    Tensor indices = as_tensor(input, "the input", "int64");
    if (indices.is_floating_point()) {
        throw Error{Code::type_mismatch,
                    "indices must be whole numbers, not " + std::string{indices.dtype()} + ": convert them before"};
    }
    // Checked where it costs nothing: on an accelerator a wrong index would be an assertion in its kernel, which ends the
    // process' use of the device, and to look at the numbers would mean to wait for them.
    if (indices.place().kind == SOMA_DEVICE_CPU && indices.numel() > 0) {
        const auto least = min(indices).item<std::int64_t>();
        const auto most = max(indices).item<std::int64_t>();
        if (least < 0 || most >= count_) {
            throw Error{Code::out_of_range, "the index " + std::to_string(least < 0 ? least : most) +
                                                " is not among 0 to " + std::to_string(count_ - 1) + " (`count` is " +
                                                std::to_string(count_) + ")"};
        }
    }
    indices = obey(ctx, *this, indices);
    return embedding(table_, indices);
}

NodeType Encoder::describe() {
    return NodeType{"nn.encoder"}
        .doc("Encodes documents: an embedding of each hashed token, their mean, then a linear map.\n"
             "The weights follow from the pipeline's seed and the node's id.")
        .config(Int("dim").defaults(64).min(1).max(4096).doc("length of a token's embedding"))
        .config(Int("out").defaults(64).min(1).max(4096).doc("length of a document's vector"))
        .config(Int("buckets").defaults(4096).min(1).max(1 << 20).doc("rows of the table that tokens are hashed to"))
        .input("tokens", Kind::any, "a list of tokens, a list of such lists, or a text")
        .output("vectors", Kind::tensor, "[out] for one document, [documents, out] for a list of them")
        .differentiable()
        .example(R"([["to", "be", "or", "not", "to", "be"], ["not", "to", "be"]])");
}

Encoder::Encoder(const Create& create)
    : Node{create}, init_{create}, table_{parameter("embedding.weight",
                                                    init_.normal({create.config().get_int("buckets"),
                                                                  create.config().get_int("dim")}))},
      map_{*this, "linear", init_, create.config().get_int("dim"), create.config().get_int("out"), true} {}

Tensor Encoder::forward(const Ctx& ctx, const Value& input) {
    if (const auto device = ctx.device()) to(*device); // unplaced, it stays: words are nowhere
    Features features;
    features.buckets = table_.size(0);
    return map_(look_up(read_documents(input), features, table_, true));
}

} // namespace nn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <soma/sdk.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace nn {

/// The tokens of one or several documents, borrowed from a value.
struct Documents {
    std::vector<std::vector<std::string_view>> tokens; ///< a list for each document
    bool single = false;                               ///< it was one document, not a list of them
};

/// Reads documents: a text (its words are what white space divides), a list of tokens, or a list of lists of tokens.
/// Throws Error for anything else. The value must outlive the result.
Documents read_documents(const soma::sdk::Value& input);

/// Which features of a document are counted.
struct Features {
    bool characters = false; ///< of the tokens joined by spaces; else of whole tokens
    std::size_t ngram = 1;   ///< how many in a row make one feature
    std::int64_t buckets = 0;
    bool is_signed = false; ///< half of the features count negatively, so that collisions cancel on average
};

/// What a table gives for documents, [documents, columns of the table]: for each the sum of the rows of its features'
/// buckets, times `1 / number of features` when `mean`. A single document gives [columns]. Differentiable by the table,
/// on whatever device the table is; on meta only sizes are worked out.
soma::sdk::Tensor look_up(const Documents& documents, const Features& features, const soma::sdk::Tensor& table,
                          bool mean);

} // namespace nn

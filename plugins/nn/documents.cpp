// SPDX-License-Identifier: Apache-2.0
#include "documents.h"

#include <algorithm>
#include <optional>
#include <string>

namespace nn {
namespace {

using namespace soma::sdk;

constexpr std::uint64_t fnv_start = 0xcbf29ce484222325U;

/// FNV-1a, continued. The same on every machine, so that a trained table stays good.
std::uint64_t hash(std::string_view bytes, std::uint64_t state = fnv_start) {
    for (const char letter : bytes) {
        state ^= static_cast<unsigned char>(letter);
        state *= 0x100000001b3U;
    }
    return state;
}

/// Spreads the hash over all 64 bits: FNV's low bits alone are weak for short keys.
std::uint64_t spread(std::uint64_t state) { return Random{state}.bits(); }

bool is_space(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && !is_space(text[i])) continue;
        if (i > start) words.push_back(text.substr(start, i - start));
        start = i + 1;
    }
    return words;
}

/// Counts the features of one document into a row of `buckets` numbers; gives how many there were.
class Counter {
public:
    Counter(const Features& features, float* row) : features_{features}, row_{row} {}

    std::size_t count(const std::vector<std::string_view>& tokens) {
        if (features_.characters) {
            characters(tokens);
        } else {
            words(tokens);
        }
        return total_;
    }

private:
    void add(std::uint64_t hashed) {
        const std::uint64_t mixed = spread(hashed);
        const bool negative = features_.is_signed && (mixed >> 63U) != 0;
        row_[mixed % static_cast<std::uint64_t>(features_.buckets)] += negative ? -1.0F : 1.0F;
        ++total_;
    }

    void words(const std::vector<std::string_view>& tokens) {
        if (tokens.empty()) return;
        // A document shorter than one n-gram is one feature by itself, so that it is not nothing.
        const std::size_t length = std::min(features_.ngram, tokens.size());
        for (std::size_t i = 0; i + length <= tokens.size(); ++i) {
            std::uint64_t state = hash(tokens[i]);
            for (std::size_t j = 1; j < length; ++j) state = hash(tokens[i + j], hash(" ", state));
            add(state);
        }
    }

    void characters(const std::vector<std::string_view>& tokens) {
        std::string text;
        for (const std::string_view token : tokens) {
            if (!text.empty()) text += ' ';
            text += token;
        }
        std::vector<std::size_t> starts;
        starts.reserve(text.size() + 1);
        for (std::size_t i = 0; i < text.size(); ++i) {
            if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) starts.push_back(i);
        }
        starts.push_back(text.size());
        const std::size_t points = starts.size() - 1;
        if (points == 0) return;
        const std::size_t length = std::min(features_.ngram, points);
        for (std::size_t i = 0; i + length <= points; ++i) {
            add(hash(std::string_view{text}.substr(starts[i], starts[i + length] - starts[i])));
        }
    }

    const Features& features_;
    float* row_;
    std::size_t total_ = 0;
};

Tensor counts(const Documents& documents, const Features& features, std::size_t first, std::size_t rows, bool mean) {
    const auto buckets = static_cast<std::size_t>(features.buckets);
    std::vector<float> data(rows * buckets);
    for (std::size_t row = 0; row < rows; ++row) {
        float* const numbers = &data[row * buckets];
        const std::size_t total = Counter{features, numbers}.count(documents.tokens[first + row]);
        if (!mean || total == 0) continue;
        const float scale = 1.0F / static_cast<float>(total);
        for (std::size_t i = 0; i < buckets; ++i) numbers[i] *= scale;
    }
    return from_vector(std::move(data), {static_cast<std::int64_t>(rows), features.buckets});
}

} // namespace

namespace {

[[noreturn]] void refuse_token(const Value& value, const std::string& where) {
    throw Error{Code::type_mismatch, "the input must be a list of tokens, or a list of such lists, and nothing else in "
                                     "it, but `" +
                                         where + "` is " + std::string{with_article(value.kind())}};
}

/// The first thing in a list that is not of this kind.
std::optional<std::size_t> first_other(const Value& list, Kind kind) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list.at(i).is(kind)) return i;
    }
    return std::nullopt;
}

std::string place(std::size_t index) { return "[" + std::to_string(index) + "]"; }

/// `path` leads to the list.
std::vector<std::string_view> tokens_of(const Value& list, const std::string& path) {
    try {
        return list.strings();
    } catch (const Error&) {
        // Looked for only now: each look costs a reference.
        if (const auto other = first_other(list, Kind::string)) refuse_token(list.at(*other), path + place(*other));
        throw;
    }
}

} // namespace

Documents read_documents(const Value& input) {
    Documents documents;
    documents.single = true;
    if (input.is(Kind::string)) {
        documents.tokens.push_back(split(input.as_string()));
        return documents;
    }
    if (!input.is(Kind::list)) {
        throw Error{Code::type_mismatch, "the input must be tokens, lists of tokens or a text, not " +
                                             std::string{with_article(input.kind())}};
    }
    const std::size_t count = input.size();
    documents.single = count == 0 || !input.at(0).is(Kind::list);
    if (!documents.single) {
        if (const auto other = first_other(input, Kind::list)) refuse_token(input.at(*other), place(*other));
        for (std::size_t i = 0; i < count; ++i) documents.tokens.push_back(tokens_of(input.at(i), place(i)));
    } else {
        documents.tokens.push_back(tokens_of(input, ""));
    }
    return documents;
}

Tensor look_up(const Documents& documents, const Features& features, const Tensor& table, bool mean) {
    const std::size_t count = documents.tokens.size();
    // As a product with the matrix of counts: one fast, differentiable operation that every device has. A few documents
    // at a time, so that the matrix stays small beside the documents themselves.
    const std::size_t at_once =
        std::max<std::size_t>(1, (std::size_t{1} << 22U) / static_cast<std::size_t>(features.buckets));
    const std::string device{table.device()};
    const bool meta = table.place().kind == SOMA_DEVICE_META;
    std::vector<Tensor> parts;
    for (std::size_t first = 0; first < count; first += at_once) {
        const std::size_t rows = std::min(at_once, count - first);
        const Tensor matrix = meta ? empty({static_cast<std::int64_t>(rows), features.buckets}, device)
                                   : counts(documents, features, first, rows, mean).to(device);
        parts.push_back(matmul(matrix, table));
    }
    const Tensor all = parts.size() == 1 ? parts.front() : cat(parts, 0);
    return documents.single ? squeeze(all, 0) : all;
}

} // namespace nn

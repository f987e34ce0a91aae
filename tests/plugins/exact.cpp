// SPDX-License-Identifier: Apache-2.0
#include "exact.h"

#include <cmath>
#include <map>

namespace soma::test {
namespace {

using Counts = std::map<std::string, double>;

/// The words in lower case, with single spaces between.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        char letter = i < text.size() ? text[i] : ' ';
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
        if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9')) {
            word += letter;
        } else if (!word.empty()) {
            words.push_back(word);
            word.clear();
        }
    }
    return words;
}

double cosine(const Counts& a, const Counts& b) {
    double product = 0;
    double length_a = 0;
    double length_b = 0;
    for (const auto& [key, count] : a) {
        length_a += count * count;
        if (const auto found = b.find(key); found != b.end()) product += count * found->second;
    }
    for (const auto& [key, count] : b) length_b += count * count;
    return product / std::sqrt(length_a * length_b);
}

} // namespace

std::vector<Match> exact_nearest(const std::vector<std::string>& texts) {
    std::vector<Counts> words(texts.size());
    std::vector<Counts> characters(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::string joined;
        for (const std::string& word : words_of(texts[i])) {
            words[i][word] += 1;
            joined += (joined.empty() ? "" : " ") + word;
        }
        for (std::size_t at = 0; at + 3 <= joined.size(); ++at) characters[i][joined.substr(at, 3)] += 1;
    }
    std::vector<Match> matches;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Match match{i, -1, 0};
        double second = -1;
        for (std::size_t j = 0; j < texts.size(); ++j) {
            if (j == i) continue;
            const double score = (cosine(words[i], words[j]) + cosine(characters[i], characters[j])) / 2;
            if (score > match.score) {
                second = match.score;
                match = {j, score, 0};
            } else if (score > second) {
                second = score;
            }
        }
        match.margin = match.score - second;
        matches.push_back(match);
    }
    return matches;
}

} // namespace soma::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace text {

/// Calls `use` with each word of a text: a maximal run of letters and digits of any script, with apostrophes within it
/// (`don't` is one word). `lower` makes capital letters small. The text must be UTF-8.
class WordSplitter {
public:
    explicit WordSplitter(bool lower) : lower_{lower} {}

    template <class Use>
    void operator()(std::string_view text, Use&& use) {
        while (next(text)) use(std::string_view{word_});
    }

private:
    /// The next word into `word_`; cuts what was read off the front of the text.
    bool next(std::string_view& text);

    bool lower_;
    std::string word_;
};

} // namespace text

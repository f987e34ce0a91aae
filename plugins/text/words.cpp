// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include "utf8.h"

#include <clocale>
#include <cwctype>

#include <locale.h>

namespace text {
namespace {

/// The C library's tables for letters beyond ASCII. They must not depend on the user's locale: the same text gives the
/// same words everywhere.
class Letters {
public:
    Letters() : locale_{newlocale(LC_CTYPE_MASK, "C.UTF-8", static_cast<locale_t>(nullptr))} {}
    ~Letters() {
        if (locale_ != static_cast<locale_t>(nullptr)) freelocale(locale_);
    }
    Letters(const Letters&) = delete;
    Letters& operator=(const Letters&) = delete;

    // Where the C library has no C.UTF-8, everything beyond ASCII is a letter and keeps its case.
    bool in_word(char32_t point) const {
        return locale_ == static_cast<locale_t>(nullptr) || iswalnum_l(static_cast<std::wint_t>(point), locale_) != 0;
    }
    char32_t lower(char32_t point) const {
        if (locale_ == static_cast<locale_t>(nullptr)) return point;
        return static_cast<char32_t>(towlower_l(static_cast<std::wint_t>(point), locale_));
    }

private:
    locale_t locale_;
};

const Letters& letters() {
    static const Letters tables;
    return tables;
}

bool is_ascii_letter(char32_t point) { return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z'); }

bool is_combining(char32_t point) { return point >= 0x300 && point <= 0x36f; }

bool in_word(char32_t point) {
    if (point < 0x80) return is_ascii_letter(point) || (point >= '0' && point <= '9');
    return is_combining(point) || letters().in_word(point);
}

bool is_apostrophe(char32_t point) { return point == '\'' || point == 0x2019; }

} // namespace

bool WordSplitter::next(std::string_view& text) {
    word_.clear();
    while (!text.empty()) {
        const CodePoint point = decode(text);
        if (in_word(point.value)) {
            if (!lower_) {
                word_.append(text, 0, point.size);
            } else if (point.value < 0x80) {
                word_ += static_cast<char>(point.value >= 'A' && point.value <= 'Z' ? point.value + 32 : point.value);
            } else {
                encode(letters().lower(point.value), word_);
            }
        } else if (!word_.empty()) {
            const std::string_view rest = text.substr(point.size);
            const bool within = is_apostrophe(point.value) && !rest.empty() && in_word(decode(rest).value);
            if (!within) return true;
            word_ += '\'';
        }
        text.remove_prefix(point.size);
    }
    return !word_.empty();
}

} // namespace text

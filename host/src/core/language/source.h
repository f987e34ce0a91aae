// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "soma/error.h"

namespace soma::language {

/// A text and what it is called in errors.
class Source {
public:
    /// Both are borrowed. `name` may be empty.
    Source(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] std::string_view from(std::size_t offset) const { return text_.substr(offset); }
    /// From 1.
    [[nodiscard]] std::size_t line(std::size_t offset) const;

    /// "name:line:column: message", the line, and a caret under the place.
    [[nodiscard]] SyntaxError error(std::size_t offset, std::string_view message) const;
    /// Throws that.
    [[noreturn]] void fail(std::size_t offset, std::string_view message) const;
    /// Fails unless the text is UTF-8 without NUL bytes.
    void check_bytes() const;

private:
    std::string_view text_;
    std::string_view name_;
};

} // namespace soma::language

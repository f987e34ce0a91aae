// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace soma::cli {

/// Aligned columns of text for a person. Cells are made to fit one line: what would break it or drive a terminal is
/// escaped.
class Table {
public:
    enum class Align { left, right };

    Table() = default;
    /// With a first row that names the columns.
    explicit Table(std::vector<std::string> header);

    /// Of a column, by number; left unless said.
    void align(std::size_t column, Align align);
    void row(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

    /// Every line begins with `indent`; none ends with blanks.
    [[nodiscard]] std::string str(std::string_view indent = "") const;

private:
    std::vector<std::vector<std::string>> rows_;
    std::vector<Align> alignment_;
};

/// `text` as one line without control characters: "\n", "\t", "\x1b" and their like are written so.
std::string one_line(std::string_view text);

/// `text` without control characters other than line breaks and tabs, which messages have.
std::string printable(std::string_view text);

/// JSON text on one line, indented by two blanks a level, as `to_json` does it. However deep it nests: reading it back may
/// not go as deep.
std::string indented(std::string_view json);

/// Columns of a terminal that UTF-8 text takes: none for combining marks, two for East Asian wide characters.
std::size_t display_width(std::string_view text) noexcept;

} // namespace soma::cli

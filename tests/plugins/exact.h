// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Texts compared by exact counts, without hashing and without any of the project's own code: what the hashed vectors are
/// held against.
namespace soma::test {

/// The nearest other text of one.
struct Match {
    std::size_t nearest;
    double score;  ///< the mean of the cosines of word counts and of counts of three characters
    double margin; ///< by how much it is nearer than the next
};

/// For each text its nearest other. ASCII texts only.
std::vector<Match> exact_nearest(const std::vector<std::string>& texts);

} // namespace soma::test

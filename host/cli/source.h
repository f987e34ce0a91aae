// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "soma/detail/located.h"
#include "soma/wire.h"

namespace soma::cli {

/// A graph or placement cannot be had: no such file, or one that cannot be read.
class SourceError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The GRAPH of the command line: a `.soma` file, a graph's `.json` file, or wire text itself.
struct Source {
    enum class Form { wire, json };
    Form form = Form::wire;
    std::string text;
    std::string name; ///< of the file; empty for an expression

    /// Finds out which it is and reads it. Throws `SourceError`.
    static Source read(const std::string& argument);
    /// What it says. With `known_types` an unknown type is an error that shows the place. Throws `GraphError`.
    /// Given `faults`, everything that reading can go on after is put there instead.
    [[nodiscard]] detail::Located located(std::span<const std::string> known_types = {},
                                          std::vector<detail::WireFault>* faults = nullptr) const;
    /// A message about a node, with its place in wire text.
    [[nodiscard]] std::string at(const detail::Located& located, Graph::Index node, const std::string& message) const;
};

} // namespace soma::cli

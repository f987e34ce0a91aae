// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "soma/json.h"
#include "soma/pipeline.h"

/// Running one small graph of shipped and test nodes.
namespace soma::test {

/// The shipped plugins and the plugin `sample`.
const Catalog& catalog();

/// Runs a graph written in the wire language. Results are those of seed 1.
Value run(std::string_view wire, const Value& input = {});
/// The same; the input and the result are JSON, tensors written as {"tensor": …}.
std::string run_json(std::string_view wire, std::string_view input);
/// What the run, or the making of the graph, fails with, without the plugin's name that the host puts at the end; fails
/// the test when it does not.
std::string failure(std::string_view wire, const Value& input = {});
/// The same with the input as JSON.
std::string failure_json(std::string_view wire, std::string_view input);

/// A list of strings.
Value list_of(const std::vector<std::string>& items);
/// The strings in a list.
std::vector<std::string> strings(const Value& list);
/// A tensor's elements, row by row, from its JSON.
std::vector<double> numbers(const Value& tensor);

/// Writes a file.
void write(const std::filesystem::path& file, std::string_view content);
/// Reads one.
std::string read(const std::filesystem::path& file);

/// Whether a text holds another.
bool holds(std::string_view text, std::string_view part);

} // namespace soma::test

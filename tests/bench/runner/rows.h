// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "recorder.h"
#include "soma/catalog.h"
#include "soma/graph.h"
#include "soma/pipeline.h"

/// The rows of the comparison. Each measures its sides into the recorder; what they are held to is in table/rows.cpp.
namespace soma::bench {

void chain_row(Recorder& recorder);   ///< B1
void wave_rows(Recorder& recorder);   ///< B2, B2b, B5
void graph_row(Recorder& recorder);   ///< B6
void start_row(Recorder& recorder);   ///< B8
void item_rows(Recorder& recorder);   ///< B10, B11
void tensor_rows(Recorder& recorder); ///< B3, B4, B7, B9
std::string tensor_library();         ///< e.g. "libtorch 1.13.1"

/// The plugins made for measuring, and the shipped ones.
const Catalog& catalog();
/// A tensor value of so many elements.
Value tensor(std::size_t elements);
/// Adds a node, after `from` if it is given.
Graph::Index add(Graph& graph, std::string_view type, Value config = {}, const Graph::Index* from = nullptr);
/// Every node of the graph on cpu.
Placement all_on_cpu(const Graph& graph);
/// Runs the pipeline so many times.
std::function<void(std::size_t)> runs(Pipeline& pipeline, Value input);
/// Does nothing: what a peer's task does.
void nothing() noexcept;
/// What `bench.work` does.
void work(std::uint64_t loops) noexcept;

} // namespace soma::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "soma/catalog.h"
#include "soma/pipeline.h"
#include "soma/value.h"
#include "soma/wire.h"

namespace soma::test {

/// The plugin `probe`, and the nodes that are part of the test programs.
const Catalog& probes();

/// A pipeline of probes; one job unless said otherwise.
Pipeline pipeline(const Wire& wire, std::size_t jobs = 1);
Pipeline pipeline(std::string_view text, std::size_t jobs = 1);
Pipeline pipeline(Graph graph, std::size_t jobs = 1, Placement placement = {});

/// What `act` says when it fails with an `E`; "no error" when it does not fail, and other failures pass through.
template <class E>
std::string error_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const E& error) {
        return error.what();
    }
    return "no error";
}

/// The value of a dict by key; a missing key fails the test.
const Value& get(const Value& dict, std::string_view key);
/// Items of a list.
std::vector<Value> items(const Value& list);
/// Every text of a list, or ints of a list.
std::vector<std::string> texts(const Value& list);
std::vector<std::int64_t> ints(const Value& list);

/// Reads the diary of a `probe.trace` with that key, and empties it.
std::vector<std::string> diary(std::string_view key = "diary");
/// How many values of `probe.counted` are alive.
std::int64_t counted();
/// How many threads the process has.
std::size_t threads();
/// Whether it has that many, soon: the system lists a thread for a moment after it was joined.
bool threads_become(std::size_t count);

/// Ends the test as skipped when this build has no tensor engine; otherwise one is loaded.
void need_engine();
/// Adds to the probes the plugin `linked`, which links libtorch.
void need_linked();

/// The node types that only a program can have: they hold a pipeline, or speak the C interface badly. Defined in
/// inner.cpp and rude.cpp.
extern const soma_entry& inner_plugin;
extern const soma_entry& rude_plugin;

/// A node that does what `act` does, on whatever thread it is run; it may be entered by several at once. Nodes made from
/// one such wire share the act.
using Act = std::function<Value(const soma_ctx& ctx, const Value& input)>;
Wire doing(Act act);

/// The pipeline that `inner.again` runs.
extern Pipeline* running_again;

} // namespace soma::test

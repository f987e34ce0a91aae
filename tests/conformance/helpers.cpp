// SPDX-License-Identifier: Apache-2.0
#include "conformance/helpers.h"

#include <chrono>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "soma/detail/engine.h"
#include "soma/error.h"
#include "soma/json.h"
#include "support/catch.h"
#include "support/paths.h"

namespace soma::test {

const Catalog& probes() {
    static const Catalog catalog = [] {
        Catalog loaded;
        loaded.load_file(test_plugins("probe") / "probe.soma.so");
        loaded.add(inner_plugin);
        loaded.add(rude_plugin);
        return loaded;
    }();
    return catalog;
}

Pipeline pipeline(const Wire& wire, std::size_t jobs) { return somatize(wire, probes(), {.jobs = jobs}); }
Pipeline pipeline(std::string_view text, std::size_t jobs) { return somatize(text, probes(), {.jobs = jobs}); }
Pipeline pipeline(Graph graph, std::size_t jobs, Placement placement) {
    return {std::move(graph), probes(), std::move(placement), {.jobs = jobs}};
}

const Value& get(const Value& dict, std::string_view key) {
    // Not by Catch's macros, which are for one thread: tests ask from several.
    if (const Value* found = dict.find(key)) return *found;
    throw std::runtime_error("no key `" + std::string(key) + "` in " + to_json(dict));
}

std::vector<Value> items(const Value& list) {
    if (list.kind() != Kind::list) throw std::runtime_error("not a list: " + to_json(list));
    std::vector<Value> all;
    for (std::size_t i = 0; i < list.size(); ++i) all.push_back(list.at(i));
    return all;
}

std::vector<std::string> texts(const Value& list) {
    std::vector<std::string> all;
    for (const Value& item : items(list)) all.emplace_back(item.as_string());
    return all;
}

std::vector<std::int64_t> ints(const Value& list) {
    std::vector<std::int64_t> all;
    for (const Value& item : items(list)) all.push_back(item.as_int());
    return all;
}

std::vector<std::string> diary(std::string_view key) {
    return texts(pipeline(node("probe.trace", {{"key", key}, {"read", true}})).run(Value()));
}

std::int64_t counted() { return pipeline(node("probe.counted", {{"count", true}})).run(Value()).as_int(); }

std::size_t threads() {
    // ThreadSanitizer starts a thread of its own beside a process's first.
    static const bool had_one = (std::thread([] {}).join(), true);
    static_cast<void>(had_one);
    const std::filesystem::directory_iterator begin("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

bool threads_become(std::size_t count) {
    for (int i = 0; i < 2000 && threads() != count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return threads() == count;
}

void need_engine() {
#if SOMA_TEST_ENGINE
    detail::require_engine();
#else
    soma_skip("this build has no tensor engine");
#endif
}

void need_linked() {
    Catalog same = probes(); // a copy shares what is loaded
    same.load_file(test_plugins("linked") / "linked.soma.so");
}

} // namespace soma::test

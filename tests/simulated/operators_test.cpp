// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator of the list operators.txt on the CPU and on a simulated device and compares what comes out. The
// list says of each whether it passes, and the test fails when that is not so. SOMATIZE_OPERATORS=FILE writes what was
// found instead; tests/operators/merge.sh makes the list of three such files.
#include "operators/sweep.h"
#include "soma/detail/simcuda.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

// After libtorch, whose headers may bring another CHECK.
#include "support/catch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace {

using c10::IValue;
using operators::Outs;
using operators::Recipe;
using operators::Values;

const c10::Device simulated(c10::DeviceType::CUDA, 1);

Values on_device(const c10::OperatorHandle& op, const Recipe& recipe, const Values& arguments) {
    Values there;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const auto& argument = op.schema().arguments()[at];
        const bool device = argument.name() == "device";
        there.push_back(device                   ? IValue(simulated)
                        : recipe.stays.count(at) ? arguments[at]
                                                 : operators::moved(arguments[at], simulated));
    }
    return there;
}

// --- By hand: what the CPU alone cannot show ---

std::string when(bool failed, const char* what) { return failed ? what : ""; }

std::string check_pin_memory() {
    const auto tensor = at::rand({3, 4});
    const auto pinned = tensor.pin_memory();
    return when(tensor.is_pinned() || !pinned.is_pinned() || !pinned.is_cpu() || !pinned.equal(tensor) ||
                    !pinned.to(simulated).cpu().equal(tensor) || tensor.to(simulated).is_pinned(),
                "what is pinned is not told from what is not");
}

std::string check_record_stream() {
    const auto tensor = at::rand({3}).to(simulated);
    tensor.record_stream(c10::Stream(c10::Stream::DEFAULT, simulated));
    return {};
}

std::string check_get_device() {
    return when(at::rand({3}).to(simulated).get_device() != 1, "the device has another number");
}

std::string check_retain_grad() {
    const auto leaf = at::rand({3}).to(simulated).requires_grad_();
    const auto doubled = leaf * 2;
    doubled.retain_grad();
    doubled.sum().backward();
    return when(doubled.grad().device() != simulated || !doubled.grad().cpu().equal(at::ones({3})),
                "the gradient is lost");
}

const operators::ByHand by_hand = {{"get_device", check_get_device},
                                   {"retain_grad", check_retain_grad},
                                   {"pin_memory", check_pin_memory},
                                   {"is_pinned", check_pin_memory},
                                   {"record_stream", check_record_stream}};

// --- One operator ---

/// One try: "" when the CPU does not take these inputs, `pass`, or `fails: why`.
std::string attempt(const c10::OperatorHandle& op, const Recipe& recipe, const Outs& outs) {
    const auto name = operators::full_name(op);
    const auto make = [&] { return operators::arguments_for(op, recipe, outs); };
    operators::Outcome host;
    try {
        host = operators::call(op, make());
    } catch (const std::exception& error) {
        if (std::getenv("SOMATIZE_OPERATORS_WHY") != nullptr) {
            std::fprintf(stderr, "%s: %.200s\n", name.c_str(), error.what());
        }
        return {};
    }
    try {
        const auto device = operators::call(op, on_device(op, recipe, make()));
        const bool random = operators::draws(op);
        const operators::Comparison compare{simulated, !random && !operators::leaves_uninitialised(op)};
        auto difference = compare.all(host.results, device.results, "result");
        if (difference.empty()) {
            auto [left, right] = std::pair(host.arguments, device.arguments);
            for (const auto stays : recipe.stays) {
                left[stays] = right[stays] = {};
            }
            difference = compare.all(left, right, "argument");
        }
        if (difference.empty() && random) {
            const auto again = operators::call(op, on_device(op, recipe, make()));
            const auto back = [](Values values) {
                std::transform(values.begin(), values.end(), values.begin(),
                               [](const IValue& value) { return operators::moved(value, c10::kCPU); });
                return values;
            };
            difference = operators::Comparison{simulated}.all(back(device.results), again.results, "second result");
        }
        return difference.empty() ? "pass" : "fails: " + difference;
    } catch (const c10::Error& error) {
        return std::string("fails: ") + error.what_without_backtrace();
    } catch (const std::exception& error) {
        return std::string("fails: ") + error.what();
    }
}

// --- The list ---

/// The list's answer for this libtorch: a line is `NAME ANSWER`, or `NAME VERSION ANSWER | VERSION ANSWER | ...` when it
/// differs; a version answers for those after it as well.
std::map<std::string, std::string> read_list(const std::string& path) {
    std::map<std::string, std::string> list;
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        const auto blank = line.find(' ');
        const auto name = line.substr(0, blank);
        std::string answer = line.substr(line.find_first_not_of(' ', blank));
        if (std::isdigit(static_cast<unsigned char>(answer[0])) != 0) {
            std::istringstream columns(answer);
            std::string column;
            std::string chosen;
            while (std::getline(columns, column, '|')) {
                int major = 0;
                int minor = 0;
                int used = 0;
                if (std::sscanf(column.c_str(), " %d.%d %n", &major, &minor, &used) >= 2 &&
                    std::pair(major, minor) <= std::pair(TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR)) {
                    chosen = column.substr(static_cast<std::size_t>(used));
                }
            }
            answer = chosen.substr(0, chosen.find_last_not_of(' ') + 1);
        }
        list[name] = answer;
    }
    return list;
}

} // namespace

TEST_CASE("every public operator of the list does on a simulated device what the list says (simulated)") {
    const char* const why = soma_simcuda()->start(2);
    INFO((why != nullptr ? why : ""));
    REQUIRE(why == nullptr);
    at::set_num_threads(1);

    const char* const write = std::getenv("SOMATIZE_OPERATORS");
    const char* const only = std::getenv("SOMATIZE_OPERATORS_ONLY");
    const auto list = read_list(SOMA_SIMULATED_DIR "/operators.txt");
    const auto tasks = operators::tasks_for([&](const std::string& name) {
        return only != nullptr ? name.substr(0, name.find('.')) == only || name == only
                               : write != nullptr || list.count(name) != 0;
    });
    const auto results = operators::run_all(tasks, attempt, by_hand);
    if (write != nullptr) {
        REQUIRE(operators::write_results(write, tasks, results));
        return;
    }
    std::set<std::string> seen;
    std::size_t passed = 0;
    for (std::size_t at = 0; at < tasks.size(); ++at) {
        const auto name = operators::full_name(tasks[at].op);
        seen.insert(name);
        passed += results[at] == "pass";
        const auto listed = list.find(name);
        const std::string expected = listed == list.end() ? "" : listed->second;
        if (expected == "pass") {
            INFO(name << " was listed as `pass`: a worse result");
            CHECK(results[at] == expected);
        } else {
            INFO(name << " does better than the list says: run with SOMATIZE_OPERATORS to update operators.txt");
            CHECK(results[at] != "pass");
        }
    }
    if (only == nullptr) {
        for (const auto& [name, answer] : list) {
            INFO(name << " is listed as `" << answer << "` and this libtorch does not have it");
            CHECK((answer != "pass" || seen.count(name) != 0));
        }
        CHECK(passed >= 200);
    }
}

// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <fmt/format.h>
#include <vector>

#include "soma/detail/value_rep.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "verify/checks.h"
#include "verify/compare.h"
#include "verify/tensors.h"

namespace soma::cli::verify {

namespace {

// Kernels of two devices round differently; on simulated ones they are the same.
constexpr Tolerance of_devices{1e-4, 1e-3};

constexpr std::string_view disobedient = "it is not where it was told: see `obeys`";

Outcome run_on(Subject& subject, const Device& device) {
    Pipeline unplaced = subject.pipeline();
    const Value expected = subject.run(unplaced);
    Pipeline pipeline = subject.pipeline(device);
    Value result;
    try {
        result = subject.run(pipeline);
    } catch (const Misplaced&) {
        return Outcome::not_checked(std::string(disobedient));
    } catch (const NodeError& error) {
        // It is nothing but the numbers that a result without tensors is made of.
        const bool needs_data = device.kind() == DeviceKind::meta && tensors_in(expected).empty();
        if (!needs_data) throw;
        return Outcome::not_checked(fmt::format("its result is no tensor, and it refuses `meta`: {}", error.what()));
    }
    if (device.kind() == DeviceKind::meta && tensors_in(expected).empty()) return Outcome::pass(summary(result));
    if (!subject.passed("same result twice")) return Outcome::pass(summary(result));
    if (const auto found = difference(expected, result, of_devices)) {
        return Outcome::fail(fmt::format("it gives something else than unplaced: {}", *found));
    }
    return Outcome::pass(summary(result));
}

Outcome run_on_cuda(Subject& subject, std::size_t index) {
    const Machine& machine = subject.machine();
    if (machine.cuda.size() <= index) return Outcome::not_checked(machine.no_cuda);
    return run_on(subject, machine.cuda[index]);
}

std::string role_of(const State& state) { return state.parameter ? "parameter" : "buffer"; }

/// The parameters that are not on the device, as a failure.
std::optional<Outcome> state_elsewhere(const Subject& subject, const Pipeline& pipeline, const Device& device) {
    subject.step("asking for its parameters");
    for (const State& state : subject.node(pipeline).state()) {
        const std::string place = place_of(state.value);
        if (place == device.str()) continue;
        return Outcome::fail(fmt::format("its {} `{}` is on `{}` when it has run on `{}`", role_of(state), state.name,
                                         place, device.str()));
    }
    return std::nullopt;
}

/// While it runs on one simulated device, nothing may be made on another.
std::optional<Outcome> made_elsewhere(const Subject& subject, const Device& device) {
    if (!subject.machine().simulated) return std::nullopt;
    for (const Device& other : subject.machine().cuda) {
        if (other == device) continue;
        const std::uint64_t made = simulated_memory(static_cast<unsigned>(other.index())).allocations;
        if (made == 0) continue;
        return Outcome::fail(fmt::format("while it ran on `{}` it made {} tensor{} on `{}`", device.str(), made,
                                         made == 1 ? "" : "s", other.str()));
    }
    return std::nullopt;
}

/// Places it on the device, runs it there and looks where everything is.
std::optional<Outcome> disobeys(Subject& subject, const Device& device) {
    Pipeline pipeline = subject.pipeline();
    subject.place(pipeline, device);
    reset_simulated_memory();
    try {
        (void)subject.run(pipeline);
    } catch (const Misplaced& misplaced) {
        return Outcome::fail(misplaced.what());
    } catch (const NodeError&) {
        return std::nullopt; // that it does not run there is said where it is run there
    }
    if (auto failed = made_elsewhere(subject, device)) return failed;
    // On meta a node of its own runs, which nobody else has.
    if (device.kind() == DeviceKind::meta) return std::nullopt;
    return state_elsewhere(subject, pipeline, device);
}

std::uint64_t bytes_on(const Device& device) { return simulated_memory(static_cast<unsigned>(device.index())).bytes; }

/// After it moved away, and after it is destroyed, its device must hold what it held before.
std::optional<Outcome> leaves_something(Subject& subject, const Device& device) {
    for (const bool counts : {false, true}) { // what it makes once and keeps for all time is made in the first round
        const std::uint64_t before = bytes_on(device);
        std::uint64_t moved = 0;
        {
            Pipeline pipeline = subject.pipeline();
            subject.place(pipeline, device);
            (void)subject.run(pipeline);
            subject.place(pipeline, Device(DeviceKind::cpu));
            (void)subject.run(pipeline);
            moved = bytes_on(device);
        }
        const std::uint64_t after = bytes_on(device);
        if (!counts) continue;
        if (after > before) {
            return Outcome::fail(
                fmt::format("{} bytes are left on `{}` after it was destroyed", after - before, device.str()));
        }
        if (moved > before) {
            return Outcome::fail(
                fmt::format("{} bytes are left on `{}` after it was moved to `cpu`", moved - before, device.str()));
        }
    }
    return std::nullopt;
}

} // namespace

Outcome check_runs_on_cpu(Subject& subject) { return run_on(subject, Device(DeviceKind::cpu)); }

Outcome check_runs_on_meta(Subject& subject) {
    if (subject.machine().engine == nullptr) return Outcome::not_checked(subject.machine().no_engine);
    return run_on(subject, Device(DeviceKind::meta));
}

Outcome check_runs_on_cuda_0(Subject& subject) { return run_on_cuda(subject, 0); }
Outcome check_runs_on_cuda_1(Subject& subject) { return run_on_cuda(subject, 1); }

Outcome check_there_and_back(Subject& subject) {
    if (subject.machine().cuda.empty()) return Outcome::not_checked(subject.machine().no_cuda);
    const Device cpu(DeviceKind::cpu);
    const Device away = subject.machine().cuda.front();
    if (!subject.passed("runs on cpu") || !subject.passed("runs on " + away.str())) {
        return Outcome::not_checked(fmt::format("it does not run on both `cpu` and `{}`", away.str()));
    }
    Pipeline pipeline = subject.pipeline(cpu);
    const Value before = subject.run(pipeline);
    const std::vector<State> state = subject.node(pipeline).state();
    try {
        subject.place(pipeline, away);
        const Value there = subject.run(pipeline);
        if (!subject.passed("same result twice")) return Outcome::pass();
        if (const auto found = difference(before, there, of_devices)) {
            return Outcome::fail(fmt::format("moved to `{}` it gives something else: {}", away.str(), *found));
        }
        subject.place(pipeline, cpu);
        const Value back = subject.run(pipeline);
        if (const auto found = difference(before, back)) {
            return Outcome::fail(fmt::format("moved to `{}` and back it gives something else: {}", away.str(), *found));
        }
    } catch (const Misplaced&) {
        return Outcome::not_checked(std::string(disobedient));
    }
    const std::vector<State> now = subject.node(pipeline).state();
    if (now.size() != state.size()) {
        return Outcome::fail(fmt::format("it held {} tensors, and {} after it was moved", state.size(), now.size()));
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (!state[i].parameter || now[i].value.handle()->payload == state[i].value.handle()->payload) continue;
        return Outcome::fail(fmt::format("its parameter `{}` is another tensor after it was moved, and an optimiser "
                                         "still holds the first: move it in place (`state_to`)",
                                         state[i].name));
    }
    return Outcome::pass(fmt::format("cpu, {}, cpu", away.str()));
}

Outcome check_obeys(Subject& subject) {
    const Machine& machine = subject.machine();
    if (machine.engine == nullptr) return Outcome::not_checked(machine.no_engine);
    std::vector<Device> devices{Device(DeviceKind::cpu), Device(DeviceKind::meta)};
    devices.insert(devices.end(), machine.cuda.begin(), machine.cuda.end());
    std::string where;
    for (const Device& device : devices) {
        // What crashes or fails there has been told, and would tell nothing of obeying.
        const Outcome* ran = subject.findings().find(subject.type().name, "runs on " + device.str());
        if (ran == nullptr || (ran->verdict != Verdict::pass && ran->detail != disobedient)) continue;
        if (auto failed = disobeys(subject, device)) return *failed;
        where += (where.empty() ? "" : ", ") + device.str();
    }
    // A handle that is never released keeps its memory, wherever that is.
    if (machine.simulated && subject.passed("runs on cpu") && subject.passed("handles released")) {
        for (const Device& device : machine.cuda) {
            if (!subject.passed("runs on " + device.str())) continue;
            if (auto failed = leaves_something(subject, device)) return *failed;
        }
    }
    if (where.empty()) return Outcome::not_checked("it runs nowhere");
    return Outcome::pass(where);
}

} // namespace soma::cli::verify

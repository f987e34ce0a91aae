// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <thread>
#include <vector>

#include "soma/detail/value_rep.h"
#include "soma/error.h"
#include "soma/json.h"
#include "verify/checks.h"
#include "verify/compare.h"
#include "verify/configs.h"
#include "verify/leaks.h"

namespace soma::cli::verify {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto while_racing = std::chrono::milliseconds(300);
constexpr int most_races = 100;

/// What came of trying inputs and configurations until the node runs on one.
struct Trial {
    std::optional<Value> result;
    std::string first_failure;
};

/// Runs it on each input, with each configuration until one will do. Sets both for all that follows.
Trial try_all(Subject& subject, const std::vector<Input>& inputs) {
    Trial trial;
    for (const Input& input : inputs) {
        std::vector<Value> configs{subject.config()};
        if (subject.config().size() > 0) {
            for (Value& config : base_configs(subject.type(), input.sizes())) {
                if (config != configs.front()) configs.push_back(std::move(config));
            }
        }
        subject.set_input(input);
        for (const Value& config : configs) {
            try {
                Pipeline pipeline = subject.pipeline(config, std::nullopt);
                const Value given = subject.input();
                trial.result = subject.run(pipeline, given);
                subject.set_returns_input(trial.result->handle() == given.handle());
            } catch (const Error& error) {
                if (trial.first_failure.empty()) trial.first_failure = error.what();
                continue;
            }
            if (config != subject.config()) subject.set_config(config);
            return trial;
        }
    }
    return trial;
}

/// Makes the node, runs it well and badly, and lets everything go. What it did to the references of its input; else
/// empty.
std::string live_and_die(Subject& subject, std::optional<Device> device, bool badly) {
    Pipeline pipeline = subject.pipeline(device);
    const Value input = subject.input();
    const std::uint32_t before = input.handle()->refs.load();
    (void)subject.run(pipeline, input);
    const std::uint32_t after = input.handle()->refs.load();
    if (after < before) {
        detail::retain(input.handle());
        return "it releases its input, which is lent to it";
    }
    if (!badly) return {};
    try {
        (void)subject.run(pipeline, of_another_kind(input));
    } catch (const NodeError&) {
        // What it refuses may be left behind as well.
    }
    return {};
}

} // namespace

Outcome check_runs_unplaced(Subject& subject) {
    const std::vector<Input> inputs = inputs_for(subject.type());
    if (inputs.empty()) {
        return Outcome::not_checked("no input can be made from what its ports say: declare an example");
    }
    if (subject.machine().engine == nullptr && inputs.front().has_tensors() && inputs.front().declared()) {
        return Outcome::not_checked("it needs tensors: " + subject.machine().no_engine);
    }
    std::vector<Input> usable;
    for (const Input& input : inputs) {
        if (subject.machine().engine != nullptr || !input.has_tensors()) usable.push_back(input);
    }
    const Trial trial = try_all(subject, usable);
    if (trial.result) {
        const std::string on = usable.front().declared() ? "its example" : "an input made for it";
        return Outcome::pass(fmt::format("on {} ({}): {}", on, summary(subject.input()), summary(*trial.result)));
    }
    if (usable.empty()) return Outcome::not_checked("it needs tensors: " + subject.machine().no_engine);
    if (!usable.front().declared()) {
        return Outcome::not_checked(
            fmt::format("it takes no input that was made for it: declare an example ({})", trial.first_failure));
    }
    if (subject.config().size() > 0) {
        return Outcome::not_checked(fmt::format("no configuration made for it suits its example: give what it requires "
                                                "a default ({})",
                                                trial.first_failure));
    }
    return Outcome::fail(trial.first_failure);
}

Outcome check_same_twice(Subject& subject) {
    Pipeline pipeline = subject.pipeline();
    const Value first = subject.run(pipeline);
    const auto differs = [&](const Value& other, std::string_view how) -> std::optional<Outcome> {
        const auto found = difference(first, other);
        if (!found) return std::nullopt;
        return Outcome::fail(fmt::format("{}: {}", how, *found));
    };
    if (auto failed = differs(subject.run(pipeline), "run again, it gives something else")) return *failed;
    Pipeline another = subject.pipeline();
    if (auto failed = differs(subject.run(another), "made anew, it gives something else")) return *failed;
    if (subject.type().has(SOMA_NODE_RANDOM)) return Outcome::pass("with the same seed");
    if (auto failed = differs(subject.run(pipeline, subject.input(), 2),
                              "with another seed it gives something else, and does not say SOMA_NODE_RANDOM")) {
        return *failed;
    }
    return Outcome::pass();
}

Outcome check_input_unmodified(Subject& subject) {
    Pipeline pipeline = subject.pipeline();
    const Value before = subject.input();
    const Value input = subject.input();
    (void)subject.run(pipeline, input);
    if (const auto found = difference(before, input))
        return Outcome::fail(fmt::format("it writes to its input, which others read: {}", *found));
    return Outcome::pass();
}

Outcome check_wrong_input(Subject& subject) {
    Pipeline pipeline = subject.pipeline();
    const Value wrong = of_another_kind(subject.input());
    const std::string kind(to_string(wrong.kind()));
    subject.step(fmt::format("running it on {}", summary(wrong)));
    try {
        RunOptions options;
        options.seed = 1;
        (void)pipeline.run(wrong, options);
    } catch (const NodeError& error) {
        return Outcome::pass(fmt::format("an input of {} is refused: {}", kind, error.what()));
    }
    return Outcome::pass(fmt::format("an input of {} is taken", kind));
}

Outcome check_two_threads(Subject& subject) {
    Pipeline pipeline = subject.pipeline();
    const Value expected = subject.run(pipeline);
    subject.step("running it on two threads at once");
    std::barrier start(2);
    std::atomic<bool> stop{false};
    std::array<std::string, 2> failures;
    const auto race = [&](std::string& failure) {
        start.arrive_and_wait();
        const auto end = Clock::now() + while_racing;
        try {
            for (int i = 0; i < most_races && !stop && (i == 0 || Clock::now() < end); ++i) {
                RunOptions options;
                options.seed = 1;
                const auto found = difference(expected, pipeline.run(subject.input(), options));
                if (!found) continue;
                failure = *found;
                stop = true;
            }
        } catch (const std::exception& error) {
            failure = error.what();
            stop = true;
        }
    };
    {
        const std::jthread other([&] { race(failures[1]); });
        race(failures[0]);
    }
    const bool reentrant = subject.type().has(SOMA_NODE_REENTRANT);
    for (const std::string& failure : failures) {
        if (failure.empty()) continue;
        return Outcome::fail(fmt::format("run on two threads{}, it gives something else: {}",
                                         reentrant ? " at once, as it allows" : ", one at a time", failure));
    }
    return Outcome::pass(reentrant ? "at once" : "one at a time: it is not re-entrant");
}

Outcome check_handles(Subject& subject) {
    std::vector<std::optional<Device>> places{std::nullopt};
    if (subject.passed("runs on cuda:0")) places.emplace_back(subject.machine().cuda.front());
    const bool badly = subject.passed("wrong input");
    constexpr int rounds = 4;
    for (const std::optional<Device>& place : places) {
        // What it makes once and keeps for all time is made now.
        if (std::string wrong = live_and_die(subject, place, badly); !wrong.empty()) {
            return Outcome::fail(std::move(wrong));
        }
        Leaks leaks;
        for (int i = 0; i < rounds; ++i) {
            (void)live_and_die(subject, place, badly);
            leaks.note();
        }
        const std::string left = leaks.each_time();
        if (left.empty()) continue;
        return Outcome::fail(
            fmt::format("made, run {} and destroyed, it leaves {} behind each time", placed_text(place), left));
    }
    return Outcome::pass();
}

} // namespace soma::cli::verify

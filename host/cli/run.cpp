// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <mutex>

#include "command.h"
#include "console.h"
#include "graph.h"
#include "input.h"
#include "interrupt.h"
#include "items.h"
#include "progress.h"
#include "readable.h"
#include "soma/error.h"
#include "soma/json.h"
#include "soma/machine.h"
#include "soma/pipeline.h"
#include "table.h"

namespace soma::cli {

namespace {

struct RunArguments {
    GraphOptions graph;
    std::optional<std::string> in;
    std::optional<std::string> jobs;
    std::optional<std::string> seed;
    std::optional<std::string> timeout;
    std::optional<std::string> in_flight;
    bool each = false;
    bool lines = false;
    bool train = false;
    bool quiet = false;

    void declare(Arguments& arguments) {
        graph.declare(arguments);
        arguments.option("--in", "VALUE|@FILE",
                         "the graph's input: JSON, else text; @FILE reads a file, @- standard input", in);
        arguments.option("-j,--jobs", "N", "run at most N branches at once; else one a core", jobs);
        arguments.option("--seed", "N", "seed of weights and of random nodes; the same seed gives the same result",
                         seed);
        arguments.option("--timeout", "SECONDS", "give up after so long, naming the node that was running", timeout);
        arguments.flag("--each", "run every element of the input, a list, by itself; print a result a line", each);
        arguments.flag("--lines", "run every line of the input by itself; print a result a line", lines);
        arguments.option("--in-flight", "N", "with --each or --lines: have N items under way at once; else 2",
                         in_flight);
        arguments.flag("--train", "run in training mode", train);
        arguments.flag("-q,--quiet", "print the result only: no table, no progress, no warnings", quiet);
    }
};

/// What came of one item.
struct Outcome {
    Value result;
    std::vector<NodeReport> nodes;
    std::vector<std::string> failures; ///< empty: it worked
    Exit exit = Exit::ok;
};

/// Items that cannot be run. They are met where items are taken and told of where results are, in their turn.
class PassedOver {
public:
    /// One that can be run.
    void run() {
        const std::lock_guard lock(mutex_);
        ++run_;
    }
    void add(std::string why) {
        const std::lock_guard lock(mutex_);
        items_.emplace_back(run_, std::move(why));
    }
    /// Takes out those with fewer than so many others before them.
    std::vector<std::string> before(std::size_t others) {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> out;
        while (!items_.empty() && items_.front().first < others) {
            out.push_back(std::move(items_.front().second));
            items_.pop_front();
        }
        return out;
    }

private:
    std::mutex mutex_;
    std::size_t run_ = 0;
    std::deque<std::pair<std::size_t, std::string>> items_;
};

/// A pipeline with everything that its runs have in common.
class Runner {
public:
    Runner(Pipeline pipeline, RunOptions options, bool show_progress)
        : pipeline_(std::move(pipeline)), options_(std::move(options)), show_progress_(show_progress) {}

    Outcome run(const Value& input) {
        Outcome outcome;
        RunOptions options = options_;
        options.report = &outcome.nodes;
        std::unique_ptr<Progress> progress;
        if (show_progress_) {
            progress = std::make_unique<Progress>(pipeline_.plan().nodes.size());
            options.progress = [&progress](const std::string& node) { progress->done(node); };
        }
        const Interrupt interrupt([this] { pipeline_.cancel(); });
        try {
            outcome.result = pipeline_.run(input, options);
        } catch (const NodeError& error) {
            fail(outcome, error);
        } catch (const CancelledError& error) {
            fail(outcome, error);
        }
        return outcome;
    }

    /// Runs every item, several at once; `show` gets what came of each, in their order. The worst of their exits.
    Exit run_many(const Items& items, std::size_t in_flight, const std::function<void(std::size_t, Outcome)>& show) {
        Exit worst = Exit::ok;
        std::size_t shown = 0;
        const auto show_failed = [&](std::string why) {
            Outcome outcome;
            outcome.exit = worst = exit_of_failure();
            outcome.failures.push_back(std::move(why));
            show(shown++, std::move(outcome));
        };
        PassedOver passed_over;
        const Interrupt interrupt([this] { pipeline_.cancel(); });
        const auto done = [&](ItemResult item) {
            for (std::string& why : passed_over.before(item.index + 1)) show_failed(std::move(why));
            if (item.error) return show_failed(text_of(item.error));
            Outcome outcome;
            outcome.result = std::move(item.result);
            show(shown++, std::move(outcome));
        };
        const auto next = [&]() -> std::optional<Value> {
            for (;;) {
                std::optional<Item> item = items();
                if (!item) return std::nullopt;
                if (item->fault.empty()) return passed_over.run(), std::move(item->value);
                passed_over.add(std::move(item->fault));
            }
        };
        pipeline_.run_many(next, done, {.in_flight = in_flight, .run = options_});
        for (std::string& why : passed_over.before(SIZE_MAX)) show_failed(std::move(why));
        return Interrupt::came() ? Interrupt::exit() : worst;
    }

private:
    static Exit exit_of_failure() { return Interrupt::came() ? Interrupt::exit() : Exit::run_failed; }

    static std::string text_of(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& exception) {
            return exception.what();
        }
    }

    void fail(Outcome& outcome, const Error& error) const {
        outcome.exit = exit_of_failure();
        outcome.failures.emplace_back(error.what());
        for (std::string& failure : pipeline_.failures()) {
            if (failure != outcome.failures.front()) outcome.failures.push_back(std::move(failure));
        }
    }

    Pipeline pipeline_;
    RunOptions options_;
    bool show_progress_;
};

double milliseconds(std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Node, device, time, result; all times in the unit that suits the longest.
std::string table_of(const std::vector<NodeReport>& nodes, const Work& work) {
    double longest = 0;
    for (const NodeReport& node : nodes) longest = std::max(longest, milliseconds(node.time));
    const bool in_seconds = longest >= 10'000;
    Table table({"node", "device", "time", "result"});
    table.align(2, Table::Align::right);
    for (const NodeReport& node : nodes) {
        std::string time = "-";
        if (node.ran) {
            const double ms = milliseconds(node.time);
            time = in_seconds ? fmt::format("{:.3f} s", ms / 1000) : fmt::format("{:.3f} ms", ms);
        }
        table.row({node.node, device_label(work, node.node), time, node.result});
    }
    const std::string header = simulated_header(work);
    return (header.empty() ? "" : header + "\n") + table.str();
}

void add_result(std::vector<std::pair<std::string, Value>>& out, const Outcome& outcome) {
    if (outcome.failures.empty()) {
        out.emplace_back("result", outcome.result);
        return;
    }
    std::vector<Value> failures(outcome.failures.begin(), outcome.failures.end());
    out.emplace_back("failures", Value::list(std::move(failures)));
}

std::string json_of(const Outcome& outcome, const Work& work) {
    std::vector<Value> nodes;
    for (const NodeReport& node : outcome.nodes) {
        nodes.push_back(Value::dict({{"node", node.node},
                                     {"device", node.device ? Value(node.device->str()) : Value()},
                                     {"ran", node.ran},
                                     {"milliseconds", milliseconds(node.time)},
                                     {"result", node.result}}));
    }
    std::vector<std::pair<std::string, Value>> out;
    add_result(out, outcome);
    out.emplace_back("nodes", Value::list(std::move(nodes)));
    if (work.simulated != 0) out.emplace_back("simulated", simulated_list(work));
    return to_json(Value::dict(std::move(out)), 2) + "\n";
}

Exit show(const Outcome& outcome, const Work& work, const RunArguments& arguments) {
    for (std::size_t i = 0; i < outcome.failures.size(); ++i) {
        report_error(i == 0 ? outcome.failures[i] : "also: " + outcome.failures[i]);
    }
    if (arguments.graph.json) {
        write_out(json_of(outcome, work));
        return outcome.exit;
    }
    if (arguments.quiet || !outcome.failures.empty()) note_simulated(work);
    if (outcome.failures.empty()) {
        std::string text = readable(outcome.result);
        if (!arguments.quiet) text += "\n" + table_of(outcome.nodes, work);
        write_out(text);
    }
    return outcome.exit;
}

/// One line an item, so that lines and items stay in step: text as it is but for line breaks, everything else as JSON,
/// nothing for a failure.
std::string without_breaks(std::string_view text) {
    std::string out;
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        out.append(text.substr(0, end)).append("\\n");
        text.remove_prefix(end + 1);
    }
    return out.append(text);
}

std::string line_of(std::size_t index, const Outcome& outcome, const Work& work, bool json) {
    if (!json) {
        if (!outcome.failures.empty()) return "\n";
        const Value& result = outcome.result;
        return (result.kind() == Kind::string ? without_breaks(result.as_string()) : to_json(result)) + "\n";
    }
    std::vector<std::pair<std::string, Value>> out{{"item", index}};
    add_result(out, outcome);
    if (work.simulated != 0) out.emplace_back("simulated", simulated_list(work));
    return to_json(Value::dict(std::move(out))) + "\n";
}

Exit run_items(Runner& runner, const Work& work, const RunArguments& arguments) {
    const Items items = arguments.each ? each_item(*arguments.in) : line_items(*arguments.in);
    const std::size_t in_flight = arguments.in_flight ? whole_number(*arguments.in_flight, "--in-flight", 1, 4096) : 2;
    const bool json = arguments.graph.json;
    if (!json) note_simulated(work); // standard output is the results', a line each
    return runner.run_many(items, in_flight, [&](std::size_t index, const Outcome& outcome) {
        for (const std::string& failure : outcome.failures) report_error(fmt::format("item {}: {}", index, failure));
        write_out(line_of(index, outcome, work, json));
    });
}

Exit run_graph(const RunArguments& given, bool many, const PipelineOptions& pipeline_options, RunOptions run_options,
               Work& work) {
    work = load(given.graph, !given.quiet);
    require_valid(work);
    if (work.simulated != 0) simulate_cuda(work.simulated);
    const Value input = given.in && !many ? read_input(*given.in) : Value();
    // Before any node is made: what is made already goes where it is placed.
    preflight(work.placement());

    Runner runner(Pipeline(work.graph(), work.catalog, work.placement(), pipeline_options), std::move(run_options),
                  !given.quiet && stderr_is_terminal());
    return many ? run_items(runner, work, given) : show(runner.run(input), work, given);
}

} // namespace

Exit run_command(Args args) {
    Arguments arguments("run", "Runs a graph on an input and prints what comes out.",
                        "somatize run 'text.tokenize >> nn.encoder.on(\"cpu\")' --in 'some text'");
    RunArguments given;
    given.declare(arguments);
    if (!arguments.parse(args)) return Exit::ok;

    const bool many = given.each || given.lines;
    if (given.each && given.lines) throw UsageError("--each and --lines are two ways to cut the input; give one");
    if (many && !given.in) throw UsageError("--each and --lines want an input: --in VALUE or --in @FILE");
    if (given.in_flight && !many) throw UsageError("--in-flight goes with --each or --lines");

    PipelineOptions pipeline_options;
    RunOptions run_options;
    run_options.training = given.train;
    if (given.jobs) pipeline_options.jobs = whole_number(*given.jobs, "--jobs", 1, 4096);
    if (given.seed) {
        pipeline_options.seed = whole_number(*given.seed, "--seed", 0, UINT64_MAX);
        run_options.seed = pipeline_options.seed;
    }
    if (given.timeout) {
        run_options.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(seconds(*given.timeout, "--timeout")));
    }

    Work work;
    work.simulated = simulated_devices(given.graph);
    try {
        return run_graph(given, many, pipeline_options, std::move(run_options), work);
    } catch (const UsageError&) {
        throw;
    } catch (const OutputError&) {
        throw;
    } catch (const std::exception& error) {
        // Nothing has run: what runs and fails is no exception any more.
        Outcome outcome;
        outcome.failures.emplace_back(error.what());
        if (given.graph.json && !many) write_out(json_of(outcome, work));
        throw;
    }
}

} // namespace soma::cli

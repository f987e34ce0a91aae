// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator of the list operators.txt on the CPU and on a simulated device and compares what comes out. The
// list says of each whether it passes, and the test fails when that is not so. SOMATIZE_OPERATORS=FILE writes what was
// found instead, one operator a line with its arguments; merge-operators.sh makes the list of three such files.
#include "operator_values.h"
#include "soma/detail/simcuda.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

// After libtorch, whose headers may bring another CHECK.
#include "support/catch.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

namespace {

using c10::IValue;
using operators::Recipe;
using Values = std::vector<IValue>;

const c10::Device simulated(c10::DeviceType::CUDA, 1);

// --- Comparing ---

/// What differs between a value on the CPU and one on the simulated device; empty when they agree.
struct Comparison {
    bool values = true;
    c10::Device device = simulated;

    std::string tensors(const at::Tensor& host, const at::Tensor& device_side) const {
        if (host.defined() != device_side.defined()) {
            return "one is undefined";
        }
        if (!host.defined()) {
            return {};
        }
        if (device_side.device() != device) {
            return "is on " + device_side.device().str();
        }
        if (host.scalar_type() != device_side.scalar_type()) {
            return std::string("is of ") + c10::toString(device_side.scalar_type()) + ", not " +
                   c10::toString(host.scalar_type());
        }
        if (host.sizes() != device_side.sizes() || host.layout() != device_side.layout()) {
            return "has another shape or layout";
        }
        if (host.layout() == at::kStrided && host.strides() != device_side.strides()) {
            return "has other strides";
        }
        if (!values) {
            return {};
        }
        const auto plain = [](at::Tensor tensor) {
            tensor = tensor.cpu();
            tensor = (tensor.is_sparse() ? tensor.to_dense() : tensor).resolve_conj().resolve_neg();
            return tensor.is_complex() ? at::view_as_real(tensor).to(at::kDouble) : tensor.to(at::kDouble);
        };
        return at::allclose(plain(host), plain(device_side), 1e-5, 1e-6, true) ? "" : "has other values";
    }

    std::string operator()(const IValue& host, const IValue& device_side) const {
        if (host.isTensor() && device_side.isTensor()) {
            return tensors(host.toTensor(), device_side.toTensor());
        }
        if (host.isTensorList() && device_side.isTensorList()) {
            const auto hosts = host.toTensorVector();
            const auto devices = device_side.toTensorVector();
            if (hosts.size() != devices.size()) {
                return "has another length";
            }
            for (std::size_t at = 0; at < hosts.size(); ++at) {
                if (auto difference = tensors(hosts[at], devices[at]); !difference.empty()) {
                    return difference;
                }
            }
            return {};
        }
        if (device_side.isDevice() || host.isOptionalTensorList() || host.isStorage() || host.isGenerator()) {
            return {};
        }
        if (host.isDouble() && device_side.isDouble()) {
            return !values || std::abs(host.toDouble() - device_side.toDouble()) < 1e-5 ? "" : "is another number";
        }
        std::ostringstream left;
        std::ostringstream right;
        left << host;
        right << device_side;
        return !values || left.str() == right.str() ? "" : "is " + right.str() + ", not " + left.str();
    }

    std::string all(const Values& host, const Values& device_side, const std::string& what) const {
        if (host.size() != device_side.size()) {
            return "another number of " + what + "s";
        }
        for (std::size_t at = 0; at < host.size(); ++at) {
            if (auto difference = (*this)(host[at], device_side[at]); !difference.empty()) {
                return what + " " + std::to_string(at) + " " + difference;
            }
        }
        return {};
    }
};

// --- Calling ---

struct Outcome {
    Values results;
    Values arguments;
};

Outcome call(const c10::OperatorHandle& op, Values arguments) {
    at::manual_seed(11);
    Outcome outcome{arguments, std::move(arguments)};
    op.callBoxed(&outcome.results);
    return outcome;
}

bool draws(const c10::OperatorHandle& op) {
    static const std::set<std::string> untagged = {
        "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "lstm", "gru", "rnn_tanh", "rnn_relu"};
    const auto& schema = op.schema();
    const auto name = schema.name().substr(schema.name().rfind(':') + 1);
    const auto base = name.back() == '_' ? name.substr(0, name.size() - 1) : name;
    return op.hasTag(at::Tag::nondeterministic_seeded) || schema.argumentIndexWithName("generator").has_value() ||
           untagged.count(base) != 0;
}

bool leaves_uninitialised(const std::string& name) {
    return name.rfind("empty", 0) == 0 || name.rfind("new_empty", 0) == 0 || name.rfind("resize", 0) == 0;
}

Values functional_results(const c10::OperatorHandle& op, const Values& arguments) {
    auto& dispatcher = c10::Dispatcher::singleton();
    const auto& schema = op.schema();
    Values given;
    std::vector<std::string> names;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        if (!operators::is_out(schema.arguments()[at])) {
            given.push_back(arguments[at]);
            names.push_back(schema.arguments()[at].name());
        }
    }
    for (const auto& name : dispatcher.getAllOpNames()) {
        const auto other = name.name == schema.name() ? dispatcher.findSchema(name) : c10::nullopt;
        if (!other || other->schema().arguments().size() != given.size()) {
            continue;
        }
        const auto& parameters = other->schema().arguments();
        bool same = true;
        for (std::size_t at = 0; at < given.size(); ++at) {
            same = same && parameters[at].name() == names[at] && !operators::is_out(parameters[at]);
        }
        if (same && other->schema().overload_name() != schema.overload_name()) {
            try {
                return call(*other, given).results;
            } catch (const std::exception&) {
                continue; // another overload may take them
            }
        }
    }
    return {};
}

/// What an operator is given to write to: empty tensors of the types that the same operator without `out` returns, or
/// tensors of their shapes too, or empty tensors all of one type.
struct Outs {
    enum { like_results, shaped_like_results, typed } kind = like_results;
    at::ScalarType dtype = at::ScalarType::Undefined;
};

at::Tensor out_for(const Outs& outs, const IValue& result) {
    if (outs.kind == Outs::typed || !result.isTensor() || !result.toTensor().defined()) {
        return at::empty({0}, at::TensorOptions(outs.kind == Outs::typed ? outs.dtype : at::kFloat));
    }
    const auto& like = result.toTensor();
    return outs.kind == Outs::shaped_like_results ? at::empty_like(like) : at::empty({0}, like.options());
}

void fill_outs(const c10::OperatorHandle& op, Values& arguments, const Values& results, const Outs& outs) {
    std::size_t next = 0;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const auto& argument = op.schema().arguments()[at];
        if (!operators::is_out(argument)) continue;
        const auto result = next < results.size() ? results[next] : IValue();
        ++next;
        if (argument.type()->kind() != c10::TypeKind::ListType) {
            arguments[at] = out_for(outs, result);
            continue;
        }
        c10::List<at::Tensor> list;
        if (result.isTensorList()) {
            for (const at::Tensor& one : result.toTensorVector()) list.push_back(out_for(outs, one));
        }
        arguments[at] = list;
    }
}

Values arguments_for(const c10::OperatorHandle& op, const Recipe& recipe, const Outs& outs) {
    auto arguments = operators::make_arguments(op, recipe);
    const auto& parameters = op.schema().arguments();
    if (std::any_of(parameters.begin(), parameters.end(), operators::is_out)) {
        const auto results = outs.kind == Outs::typed ? Values() : functional_results(op, arguments);
        if (results.empty() && outs.kind != Outs::typed) throw std::invalid_argument("no operator without `out` runs");
        arguments = operators::make_arguments(op, recipe);
        fill_outs(op, arguments, results, outs);
    }
    return arguments;
}

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

const std::map<std::string, std::function<std::string()>> by_hand = {{"get_device", check_get_device},
                                                                     {"retain_grad", check_retain_grad},
                                                                     {"pin_memory", check_pin_memory},
                                                                     {"is_pinned", check_pin_memory},
                                                                     {"record_stream", check_record_stream}};

// --- One operator ---

constexpr std::array<Outs, 9> out_kinds = {{{Outs::like_results},
                                            {Outs::shaped_like_results},
                                            {Outs::typed, at::kFloat},
                                            {Outs::typed, at::kLong},
                                            {Outs::typed, at::kBool},
                                            {Outs::typed, at::kComplexFloat},
                                            {Outs::typed, at::kDouble},
                                            {Outs::typed, at::kInt},
                                            {Outs::typed, at::kByte}}};

/// One try: "" when the CPU does not take these inputs, `pass`, or `fails: why`.
std::string attempt(const c10::OperatorHandle& op, const Recipe& recipe, const Outs& outs) {
    const auto name = operators::full_name(op);
    const auto make = [&] { return arguments_for(op, recipe, outs); };
    Outcome host;
    try {
        host = call(op, make());
    } catch (const std::exception& error) {
        if (std::getenv("SOMATIZE_OPERATORS_WHY") != nullptr) {
            std::fprintf(stderr, "%s: %.200s\n", name.c_str(), error.what());
        }
        return {};
    }
    try {
        const auto device = call(op, on_device(op, recipe, make()));
        const bool random = draws(op);
        const Comparison compare{!random && !leaves_uninitialised(name)};
        auto difference = compare.all(host.results, device.results, "result");
        if (difference.empty()) {
            auto [left, right] = std::pair(host.arguments, device.arguments);
            for (const auto stays : recipe.stays) {
                left[stays] = right[stays] = {};
            }
            difference = compare.all(left, right, "argument");
        }
        if (difference.empty() && random) {
            const auto again = call(op, on_device(op, recipe, make()));
            const auto back = [](Values values) {
                std::transform(values.begin(), values.end(), values.begin(),
                               [](const IValue& value) { return operators::moved(value, c10::kCPU); });
                return values;
            };
            difference = Comparison{true}.all(back(device.results), again.results, "second result");
        }
        return difference.empty() ? "pass" : "fails: " + difference;
    } catch (const c10::Error& error) {
        return std::string("fails: ") + error.what_without_backtrace();
    } catch (const std::exception& error) {
        return std::string("fails: ") + error.what();
    }
}

bool cpu_has(const c10::OperatorHandle& op) {
    return op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) ||
           op.hasComputedKernelForDispatchKey(c10::DispatchKey::SparseCPU);
}

/// Whether the CPU runs it: by itself, or the operator that it is the `out` form of.
bool cpu_has_or_had(const c10::OperatorHandle& op) {
    const auto plain = c10::Dispatcher::singleton().findSchema({op.schema().name(), ""});
    const auto& parameters = op.schema().arguments();
    const bool out = std::any_of(parameters.begin(), parameters.end(), operators::is_out);
    return cpu_has(op) && (!out || !plain || cpu_has(*plain));
}

std::string one_line(std::string text) {
    text = text.substr(0, text.find('\n'));
    return text.size() > 240 ? text.substr(0, 240) : text;
}

// --- All operators, in a child process, since some inputs crash some kernels of some versions ---

struct Task {
    c10::OperatorHandle op;
    std::vector<Recipe> recipes;
    std::string why_not;
};

/// Runs from one operator on and tells on a pipe: `?operator try` before each try, `=operator result` after the last.
void run_from(std::size_t first, const std::vector<Task>& tasks,
              const std::set<std::pair<std::size_t, std::size_t>>& deadly, std::FILE* to) {
    for (std::size_t at = first; at < tasks.size(); ++at) {
        const auto& task = tasks[at];
        const auto name = operators::full_name(task.op);
        std::string result;
        if (const auto special = by_hand.find(name); special != by_hand.end()) {
            try {
                result = special->second();
                result = result.empty() ? "pass" : "fails: " + result;
            } catch (const std::exception& error) {
                result = std::string("fails: ") + error.what();
            }
        }
        std::size_t tries = 0;
        const auto& parameters = task.op.schema().arguments();
        const bool outs = std::any_of(parameters.begin(), parameters.end(), operators::is_out);
        for (std::size_t recipe = 0; recipe < task.recipes.size() && result.empty(); ++recipe) {
            for (std::size_t kind = 0; kind < (outs ? out_kinds.size() : 1) && result.empty(); ++kind, ++tries) {
                if (deadly.count({at, tries}) != 0) {
                    continue;
                }
                std::fprintf(to, "?%zu %zu\n", at, tries);
                std::fflush(to);
                result = attempt(task.op, task.recipes[recipe], out_kinds[kind]);
            }
        }
        const auto none = !task.why_not.empty() ? task.why_not
                          : cpu_has_or_had(task.op) ? "no inputs known that the CPU takes"
                                                : "libtorch has no CPU kernel for it";
        std::fprintf(to, "=%zu %s\n", at, one_line(result.empty() ? "unsupported: " + none : result).c_str());
        std::fflush(to);
    }
}

std::vector<std::string> run_all(const std::vector<Task>& tasks) {
    std::vector<std::string> results(tasks.size());
    std::set<std::pair<std::size_t, std::size_t>> deadly;
    std::size_t next = 0;
    while (next < tasks.size()) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        const auto child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            close(ends[0]);
            for (const int deadly_signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) {
                std::ignore = signal(deadly_signal, SIG_DFL);
            }
            if (std::getenv("SOMATIZE_OPERATORS_WHY") == nullptr) {
                std::ignore = std::freopen("/dev/null", "w", stderr); // libtorch's warnings about odd inputs
            }
            std::FILE* const to = fdopen(ends[1], "w");
            run_from(next, tasks, deadly, to);
            std::fclose(to);
            std::_Exit(0);
        }
        close(ends[1]);
        std::string text;
        std::pair<std::size_t, std::size_t> last{next, 0};
        pollfd ready{ends[0], POLLIN, 0};
        while (poll(&ready, 1, 30000) == 1) {
            char buffer[4096];
            const auto count = read(ends[0], buffer, sizeof buffer);
            if (count <= 0) {
                break;
            }
            text.append(buffer, static_cast<std::size_t>(count));
            for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
                std::size_t used = 1;
                const auto line = std::exchange(text, text.substr(end + 1)).substr(0, end);
                const auto at = std::stoull(line.substr(1), &used);
                if (line[0] == '?') {
                    last = {at, std::stoull(line.substr(1 + used))};
                } else {
                    results[at] = line.substr(2 + used);
                    next = at + 1;
                }
            }
        }
        close(ends[0]);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (next < tasks.size()) {
            deadly.insert(last);
        }
    }
    return results;
}

// --- The list ---

/// The arguments of an operator in a form that the three versions write alike, one after the other, `=` after those
/// with a default.
std::string signature(const c10::FunctionSchema& schema) {
    std::string text;
    for (const auto& argument : schema.arguments()) {
        auto type = argument.type()->str();
        for (auto at = type.find("SymInt"); at != std::string::npos; at = type.find("SymInt")) {
            type.replace(at, 6, "int");
        }
        text += type + " " + argument.name() + (argument.default_value() ? "=" : "") + ";";
    }
    return text + ">" + std::to_string(schema.returns().size());
}

bool is_public(const c10::OperatorName& name) { return name.name.rfind("aten::", 0) == 0 && name.name[6] != '_'; }

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

std::vector<Task> tasks_for(const std::function<bool(const std::string&)>& wanted) {
    const auto inputs = operators::read_inputs(SOMA_SIMULATED_DIR "/operator_inputs.txt");
    std::vector<Task> tasks;
    for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
        const auto op = is_public(name) ? c10::Dispatcher::singleton().findSchema(name) : c10::nullopt;
        if (!op || !wanted(operators::full_name(*op))) {
            continue;
        }
        const auto full = operators::full_name(*op);
        std::string why;
        for (const auto& key : {full.substr(0, full.find('.')), full}) {
            if (const auto found = inputs.unsupported.find(key); found != inputs.unsupported.end()) {
                why = found->second;
            }
        }
        tasks.push_back({*op, why.empty() ? operators::candidates(*op, inputs) : std::vector<Recipe>(), why});
    }
    std::sort(tasks.begin(), tasks.end(), [](const Task& left, const Task& right) {
        return operators::full_name(left.op) < operators::full_name(right.op);
    });
    return tasks;
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
    const auto tasks = tasks_for([&](const std::string& name) {
        return only != nullptr ? name.substr(0, name.find('.')) == only || name == only
                               : write != nullptr || list.count(name) != 0;
    });
    const auto results = run_all(tasks);
    if (write != nullptr) {
        std::ofstream file(write);
        for (std::size_t at = 0; at < tasks.size(); ++at) {
            file << operators::full_name(tasks[at].op) << '\t' << signature(tasks[at].op.schema()) << '\t'
                 << results[at] << '\n';
        }
        REQUIRE(file.flush().good());
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

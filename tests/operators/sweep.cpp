// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <tuple>

namespace operators {

using c10::IValue;

std::string Comparison::tensors(const at::Tensor& host, const at::Tensor& other) const {
    if (host.defined() != other.defined()) {
        return "one is undefined";
    }
    if (!host.defined()) {
        return {};
    }
    if (other.device() != device) {
        return "is on " + other.device().str();
    }
    if (host.scalar_type() != other.scalar_type()) {
        return std::string("is of ") + c10::toString(other.scalar_type()) + ", not " +
               c10::toString(host.scalar_type());
    }
    if (host.sizes() != other.sizes() || host.layout() != other.layout()) {
        return "has another shape or layout";
    }
    if (host.layout() == at::kStrided && host.strides() != other.strides()) {
        return "has other strides";
    }
    if (!values) {
        return {};
    }
    const auto plain = [](at::Tensor tensor) {
        tensor = tensor.layout() == at::kStrided ? tensor : tensor.to_dense();
        tensor = tensor.cpu().resolve_conj().resolve_neg();
        return tensor.is_complex() ? at::view_as_real(tensor).to(at::kDouble) : tensor.to(at::kDouble);
    };
    return at::allclose(plain(host), plain(other), 1e-5, 1e-6, true) ? "" : "has other values";
}

std::string Comparison::operator()(const IValue& host, const IValue& other) const {
    if (host.isTensor() && other.isTensor()) {
        return tensors(host.toTensor(), other.toTensor());
    }
    if (host.isTensorList() && other.isTensorList()) {
        const auto hosts = host.toTensorVector();
        const auto devices = other.toTensorVector();
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
    if (other.isDevice() || host.isOptionalTensorList() || host.isStorage() || host.isGenerator()) {
        return {};
    }
    if (host.isDouble() && other.isDouble()) {
        return !values || std::abs(host.toDouble() - other.toDouble()) < 1e-5 ? "" : "is another number";
    }
    std::ostringstream left;
    std::ostringstream right;
    left << host;
    right << other;
    return !values || left.str() == right.str() ? "" : "is " + right.str() + ", not " + left.str();
}

std::string Comparison::all(const Values& host, const Values& other, const std::string& what) const {
    if (host.size() != other.size()) {
        return "another number of " + what + "s";
    }
    for (std::size_t at = 0; at < host.size(); ++at) {
        if (auto difference = (*this)(host[at], other[at]); !difference.empty()) {
            return what + " " + std::to_string(at) + " " + difference;
        }
    }
    return {};
}
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

bool leaves_uninitialised(const c10::OperatorHandle& op) {
    const auto name = full_name(op);
    return name.rfind("empty", 0) == 0 || name.rfind("new_empty", 0) == 0 || name.rfind("resize", 0) == 0;
}

namespace {

Values functional_results(const c10::OperatorHandle& op, const Values& arguments) {
    auto& dispatcher = c10::Dispatcher::singleton();
    const auto& schema = op.schema();
    Values given;
    std::vector<std::string> names;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        if (!is_out(schema.arguments()[at])) {
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
            same = same && parameters[at].name() == names[at] && !is_out(parameters[at]);
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
        if (!is_out(argument)) continue;
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

} // namespace

Values arguments_for(const c10::OperatorHandle& op, const Recipe& recipe, const Outs& outs) {
    auto arguments = make_arguments(op, recipe);
    const auto& parameters = op.schema().arguments();
    if (std::any_of(parameters.begin(), parameters.end(), is_out)) {
        const auto results = outs.kind == Outs::typed ? Values() : functional_results(op, arguments);
        if (results.empty() && outs.kind != Outs::typed) throw std::invalid_argument("no operator without `out` runs");
        arguments = make_arguments(op, recipe);
        fill_outs(op, arguments, results, outs);
    }
    return arguments;
}

namespace {

constexpr std::array<Outs, 9> out_kinds = {{{Outs::like_results},
                                            {Outs::shaped_like_results},
                                            {Outs::typed, at::kFloat},
                                            {Outs::typed, at::kLong},
                                            {Outs::typed, at::kBool},
                                            {Outs::typed, at::kComplexFloat},
                                            {Outs::typed, at::kDouble},
                                            {Outs::typed, at::kInt},
                                            {Outs::typed, at::kByte}}};

bool cpu_has(const c10::OperatorHandle& op) {
    return op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) ||
           op.hasComputedKernelForDispatchKey(c10::DispatchKey::SparseCPU);
}

/// Whether the CPU runs it: by itself, or the operator that it is the `out` form of.
bool cpu_has_or_had(const c10::OperatorHandle& op) {
    const auto plain = c10::Dispatcher::singleton().findSchema({op.schema().name(), ""});
    const auto& parameters = op.schema().arguments();
    const bool out = std::any_of(parameters.begin(), parameters.end(), is_out);
    return cpu_has(op) && (!out || !plain || cpu_has(*plain));
}

std::string one_line(std::string text) {
    text = text.substr(0, text.find('\n'));
    return text.size() > 240 ? text.substr(0, 240) : text;
}

/// Runs from one operator on and tells on a pipe: `?operator try` before each try, `=operator result` after the last.
void run_from(std::size_t first, const std::vector<Task>& tasks,
              const std::set<std::pair<std::size_t, std::size_t>>& deadly, const Attempt& attempt,
              const ByHand& by_hand, std::FILE* to) {
    for (std::size_t at = first; at < tasks.size(); ++at) {
        const auto& task = tasks[at];
        const auto name = full_name(task.op);
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
        const bool outs = std::any_of(parameters.begin(), parameters.end(), is_out);
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
        const auto none = !task.why_not.empty()     ? task.why_not
                          : cpu_has_or_had(task.op) ? "no inputs known that the CPU takes"
                                                    : "libtorch has no CPU kernel for it";
        std::fprintf(to, "=%zu %s\n", at, one_line(result.empty() ? "unsupported: " + none : result).c_str());
        std::fflush(to);
    }
}

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

} // namespace

std::vector<std::string> run_all(const std::vector<Task>& tasks, const Attempt& attempt, const ByHand& by_hand) {
    std::vector<std::string> results(tasks.size());
    std::set<std::pair<std::size_t, std::size_t>> deadly;
    std::size_t next = 0;
    while (next < tasks.size()) {
        int ends[2];
        if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
        const auto child = fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0) {
            close(ends[0]);
            for (const int deadly_signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) {
                std::ignore = signal(deadly_signal, SIG_DFL);
            }
            if (std::getenv("SOMATIZE_OPERATORS_WHY") == nullptr) {
                std::ignore = std::freopen("/dev/null", "w", stderr); // libtorch's warnings about odd inputs
            }
            std::FILE* const to = fdopen(ends[1], "w");
            run_from(next, tasks, deadly, attempt, by_hand, to);
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

std::vector<Task> tasks_for(const std::function<bool(const std::string&)>& wanted) {
    const auto inputs = read_inputs(SOMA_OPERATORS_DIR "/inputs.txt");
    std::vector<Task> tasks;
    for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
        const auto op = is_public(name) ? c10::Dispatcher::singleton().findSchema(name) : c10::nullopt;
        if (!op || !wanted(full_name(*op))) {
            continue;
        }
        const auto full = full_name(*op);
        std::string why;
        for (const auto& key : {full.substr(0, full.find('.')), full}) {
            if (const auto found = inputs.unsupported.find(key); found != inputs.unsupported.end()) {
                why = found->second;
            }
        }
        tasks.push_back({*op, why.empty() ? candidates(*op, inputs) : std::vector<Recipe>(), why});
    }
    std::sort(tasks.begin(), tasks.end(),
              [](const Task& left, const Task& right) { return full_name(left.op) < full_name(right.op); });
    return tasks;
}

bool write_results(const std::string& path, const std::vector<Task>& tasks, const std::vector<std::string>& results) {
    std::ofstream file(path);
    for (std::size_t at = 0; at < tasks.size(); ++at) {
        file << full_name(tasks[at].op) << '\t' << signature(tasks[at].op.schema()) << '\t' << results[at] << '\n';
    }
    return file.flush().good();
}

} // namespace operators

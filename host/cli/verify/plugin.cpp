// SPDX-License-Identifier: Apache-2.0
#include "verify/plugin.h"

#include <exception>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soma/catalog.h"
#include "soma/error.h"
#include "soma/log.h"
#include "soma/plugin.h"
#include "verify/checks.h"

namespace soma::cli::verify {

namespace {

/// What the host says of the plugin's use of it. Everything else in the log is the plugin's own business.
class Misuse {
public:
    Misuse() {
        set_log_level(LogLevel::error);
        set_log_sink([this](const LogLine& line) {
            const bool misuse = line.text.find("it called `") == 0 ||
                                line.text.find("which no plugin function may") != std::string_view::npos;
            if (misuse && first_.empty()) first_ = line.text;
        });
    }
    Misuse(const Misuse&) = delete;
    Misuse& operator=(const Misuse&) = delete;
    ~Misuse() { set_log_sink({}); }

    /// What was said since it was last asked; empty for nothing.
    [[nodiscard]] std::string take() { return std::exchange(first_, {}); }

private:
    std::string first_;
};

Outcome outcome_of(const NodeCheck& check, Subject& subject, Misuse& misuse) {
    if (!check.after.empty() && !subject.passed(check.after)) {
        const Outcome* before = subject.findings().find(subject.type().name, check.after);
        if (before == nullptr || before->verdict != Verdict::not_checked) {
            return Outcome::not_checked(std::string(check.otherwise));
        }
        // The first reason, not the last in a chain.
        const bool refers = before->detail.starts_with("see `");
        return Outcome::not_checked(refers ? before->detail : fmt::format("see `{}`", check.after));
    }
    (void)misuse.take();
    Outcome outcome;
    try {
        outcome = check.run(subject);
    } catch (const std::exception& error) {
        outcome = Outcome::fail(error.what());
    }
    const std::string misused = misuse.take();
    if (outcome.verdict == Verdict::pass && !misused.empty()) return Outcome::fail(misused);
    return outcome;
}

/// The input that the node was run on before, in a child that is no more.
void find_input(Subject& subject) {
    if (!subject.passed("runs unplaced") || subject.chosen_input()) return;
    (void)check_runs_unplaced(subject);
}

void check_node(const Catalog& catalog, const std::string& name, const Machine& machine, Reporter& report,
                Misuse& misuse) {
    Subject subject(catalog, catalog.get(name), machine, report);
    for (const NodeCheck& check : node_checks()) {
        if (report.findings().find(name, check.name) != nullptr) continue;
        report.begin(name, check.name);
        find_input(subject);
        report.done(outcome_of(check, subject, misuse));
    }
}

bool anything_left(const std::vector<std::string>& types, const Findings& findings) {
    if (findings.find("", "loads") == nullptr) return true;
    for (const std::string& type : types) {
        for (const NodeCheck& check : node_checks()) {
            if (findings.find(type, check.name) == nullptr) return true;
        }
    }
    return findings.find("", "unloads") == nullptr;
}

} // namespace

void verify_plugin(Reporter& report) {
    Findings& findings = report.findings();
    report.step("starting the tensor library");
    const Machine machine = Machine::find();
    findings.engine = machine.engine == nullptr ? "" : machine.engine->library;
    findings.simulated = machine.simulated;
    findings.devices.clear();
    for (const Device& device : machine.cuda) findings.devices.push_back(device.str());
    report.machine();

    Misuse misuse;
    report.begin("", "loads");
    report.step("loading it");
    auto catalog = std::make_unique<Catalog>();
    std::vector<std::string> types;
    std::weak_ptr<const Plugin> watched;
    try {
        const auto plugin = catalog->load_file(findings.file);
        findings.plugin = plugin->name;
        findings.version = plugin->version;
        types = plugin->types;
        watched = plugin;
    } catch (const PluginError& error) {
        report.refused(error.what());
        return;
    }
    report.plugin();
    if (std::string misused = misuse.take(); !misused.empty()) {
        report.done(Outcome::fail(std::move(misused)));
    } else if (types.empty()) {
        report.done(Outcome::fail("it gives no node type"));
    } else {
        report.done(Outcome::pass());
    }
    if (!anything_left(types, findings)) return;
    for (const std::string& type : types) check_node(*catalog, type, machine, report, misuse);

    report.begin("", "unloads");
    report.step("unloading it");
    catalog.reset();
    const std::string misused = misuse.take();
    if (!misused.empty()) {
        report.done(Outcome::fail(misused));
    } else if (!watched.expired()) {
        report.done(Outcome::fail("something of it is still alive after everything was let go"));
    } else {
        report.done(Outcome::pass());
    }
}

} // namespace soma::cli::verify

// SPDX-License-Identifier: Apache-2.0
#include "verify/reporter.h"

#include <cerrno>
#include <unistd.h>
#include <utility>

#include "soma/error.h"
#include "soma/json.h"

namespace soma::cli::verify {

namespace {

std::string text_of(const Value& object, std::string_view key) {
    const Value* value = object.find(key);
    return value != nullptr && value->kind() == Kind::string ? std::string(value->as_string()) : std::string();
}

Verdict verdict_of(std::string_view text) {
    for (const Verdict verdict : {Verdict::pass, Verdict::fail}) {
        if (text == to_string(verdict)) return verdict;
    }
    return Verdict::not_checked;
}

} // namespace

void Reporter::send(std::vector<std::pair<std::string, Value>> entries) {
    const std::string text = to_json(Value::dict(std::move(entries))) + "\n";
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto written = write(file_, rest.data(), rest.size());
        if (written >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            return; // nobody listens any more
        }
    }
}

void Reporter::begin(std::string_view node, std::string_view check) {
    node_ = node;
    check_ = check;
    send({{"is", "begin"}, {"node", node}, {"check", check}});
}

void Reporter::step(std::string_view doing) { send({{"is", "step"}, {"doing", doing}}); }

void Reporter::done(const Outcome& outcome) {
    findings_.set({node_, check_, outcome});
    send({{"is", "done"},
          {"node", node_},
          {"check", check_},
          {"verdict", to_string(outcome.verdict)},
          {"detail", outcome.detail}});
}

void Reporter::config(std::string_view node, const Value& config) {
    findings_.set_config(node, config);
    send({{"is", "config"}, {"node", node}, {"config", config}});
}

void Reporter::machine() {
    std::vector<Value> devices(findings_.devices.begin(), findings_.devices.end());
    send({{"is", "machine"},
          {"engine", findings_.engine},
          {"devices", Value::list(std::move(devices))},
          {"simulated", findings_.simulated}});
}

void Reporter::plugin() { send({{"is", "plugin"}, {"name", findings_.plugin}, {"version", findings_.version}}); }

void Reporter::refused(std::string_view reason) { send({{"is", "refused"}, {"reason", reason}}); }

void Reporter::end() { send({{"is", "end"}}); }

void Listener::take(std::string_view text) {
    rest_ += text;
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
        line(std::string_view(rest_).substr(0, end));
        rest_.erase(0, end + 1);
    }
}

void Listener::line(std::string_view text) {
    Value said;
    try {
        said = parse_json(text);
    } catch (const ValueError&) {
        return; // not the child's own words: something else wrote to its file
    }
    const std::string is = text_of(said, "is");
    if (is == "begin") {
        node_ = text_of(said, "node");
        check_ = text_of(said, "check");
        step_.clear();
        checking_ = true;
        ++begun_;
    } else if (is == "step") {
        step_ = text_of(said, "doing");
    } else if (is == "done") {
        checking_ = false;
        findings_.set({text_of(said, "node"),
                       text_of(said, "check"),
                       {verdict_of(text_of(said, "verdict")), text_of(said, "detail")}});
    } else if (is == "config") {
        if (const Value* config = said.find("config")) findings_.set_config(text_of(said, "node"), *config);
    } else if (is == "machine") {
        findings_.engine = text_of(said, "engine");
        const Value* simulated = said.find("simulated");
        findings_.simulated = simulated != nullptr && simulated->kind() == Kind::boolean && simulated->as_bool();
        findings_.devices.clear();
        const Value* devices = said.find("devices");
        for (std::size_t i = 0; devices != nullptr && i < devices->size(); ++i) {
            findings_.devices.emplace_back(devices->at(i).as_string());
        }
    } else if (is == "plugin") {
        findings_.plugin = text_of(said, "name");
        findings_.version = text_of(said, "version");
    } else if (is == "refused") {
        findings_.refusal = text_of(said, "reason");
    } else if (is == "end") {
        ended_ = true;
    }
}

} // namespace soma::cli::verify

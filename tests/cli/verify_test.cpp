// SPDX-License-Identifier: Apache-2.0
// `somatize verify` on plugins that keep what they promise, and on one for each promise that is broken.
#include <algorithm>
#include <filesystem>

#include "process.h"
#include "soma/json.h"
#include "support/catch.h"

using soma::Value;
using soma::test::Finished;
using soma::test::Launch;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string lies() { return (soma::test::test_plugins("lies") / "lies.soma.so").string(); }

Launch launch(const std::string& file, const std::string& way, std::vector<std::string> more) {
    Launch made;
    made.args = {"verify", file};
    made.args.insert(made.args.end(), more.begin(), more.end());
    made.environment = {{"SOMA_LIE", way}};
    return made;
}

/// What `somatize verify --json` says of a plugin.
class Verified {
public:
    explicit Verified(const std::string& file, const std::string& way = {}, std::vector<std::string> more = {}) {
        more.emplace_back("--json");
        done_ = soma::test::run(launch(file, way, std::move(more)));
        INFO(done_.err);
        REQUIRE(done_.signal == 0);
        said_ = soma::parse_json(done_.out);
        if (!said_.find("simulated")->as_bool()) soma_skip("libtorch has real CUDA here");
        CHECK((done_.exit == 0) == said_.find("ok")->as_bool());
        CHECK((said_.find("failed")->as_int() == 0) == said_.find("ok")->as_bool());
    }

    [[nodiscard]] int exit() const { return done_.exit; }
    [[nodiscard]] const Value& said() const { return said_; }
    /// "check: detail" of every row that has the result.
    [[nodiscard]] std::vector<std::string> rows(std::string_view result) const {
        std::vector<std::string> out;
        const Value& all = *said_.find("checks");
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all.at(i).find("result")->as_string() != result) continue;
            out.push_back(std::string(all.at(i).find("check")->as_string()) + ": " +
                          std::string(all.at(i).find("detail")->as_string()));
        }
        return out;
    }
    [[nodiscard]] std::vector<std::string> failures() const { return rows("fail"); }
    /// "pass: detail" of a check; empty when there is none.
    [[nodiscard]] std::string row(std::string_view check, std::string_view node = {}) const {
        const Value& all = *said_.find("checks");
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all.at(i).find("check")->as_string() != check) continue;
            if (!node.empty() && *all.at(i).find("node") != Value(node)) continue;
            return std::string(all.at(i).find("result")->as_string()) + ": " +
                   std::string(all.at(i).find("detail")->as_string());
        }
        return {};
    }

private:
    Finished done_;
    Value said_;
};

using Texts = std::vector<std::string>;

/// The one failure that a lie is found by.
std::string found_by(const std::string& way, std::vector<std::string> more = {}) {
    const Verified verified(lies(), way, std::move(more));
    CHECK(verified.exit() == 1);
    const Texts failures = verified.failures();
    for (const std::string& failure : failures) UNSCOPED_INFO(failure);
    REQUIRE(failures.size() == 1);
    return failures.front();
}

std::string shipped(const std::string& name) { return (soma::test::shipped_plugins() / (name + ".soma.so")).string(); }

} // namespace

TEST_CASE("verify passes a plugin that keeps what it promises (simulated)") {
    for (const std::string way : {"plain", "weight", "right_backward"}) {
        const Verified verified(lies(), way);
        INFO(way);
        CHECK(verified.exit() == 0);
        CHECK(verified.failures().empty());
        CHECK(verified.rows("not checked").empty());
        CHECK(verified.rows("pass").size() == 19);
    }
}

TEST_CASE("verify says of each check that passed what was looked at (simulated)") {
    const Verified verified(lies(), "weight");
    CHECK(verified.row("loads") == "pass: ");
    CHECK(verified.row("configurations") == "pass: 1 of 1 made");
    CHECK(verified.row("wrong configuration") == "pass: 2 refused; of 4 odd ones 4 taken");
    CHECK(verified.row("runs unplaced") == "pass: on its example (tensor float32[2] on cpu): tensor float32[2] on cpu");
    CHECK(verified.row("runs on meta") == "pass: tensor float32[2] on meta");
    CHECK(verified.row("runs on cuda:1") == "pass: tensor float32[2] on cuda:1");
    CHECK(verified.row("there and back") == "pass: cpu, cuda:0, cpu");
    CHECK(verified.row("obeys") == "pass: cpu, meta, cuda:0, cuda:1");
    CHECK(verified.row("two threads") == "pass: one at a time: it is not re-entrant");
    CHECK(verified.row("gradients") == "pass: 7 differences in float64");
    CHECK(Verified(lies(), "plain").row("two threads") == "pass: at once");
}

TEST_CASE("verify passes every plugin that ships (simulated)") {
    for (const std::string name : {"flow", "index", "nn", "text"}) {
        const Verified verified(shipped(name));
        INFO(name);
        for (const std::string& failure : verified.failures()) UNSCOPED_INFO(failure);
        CHECK(verified.exit() == 0);
        CHECK(verified.failures().empty());
    }
}

TEST_CASE("verify finds a configuration and numbers for nodes that require some (simulated)") {
    const Verified nn(shipped("nn"));
    CHECK(nn.row("defaults", "nn.linear") == R"(pass: with {"in": 4, "out": 4})");
    CHECK(nn.row("gradients", "nn.linear").starts_with("pass: "));
    CHECK(nn.row("gradients", "nn.encoder").starts_with("pass: "));
    CHECK(nn.row("gradients", "nn.relu") == "not checked: it says that it is not smooth");
    CHECK(nn.row("obeys", "nn.encoder") == "pass: cpu, meta, cuda:0, cuda:1");
}

TEST_CASE("verify asks for an example where no input made for a node will do (simulated)") {
    const Verified text(shipped("text"));
    CHECK(has(text.row("runs unplaced", "text.read"),
              "not checked: it takes no input that was made for it: declare an example ("));
    CHECK(text.row("obeys", "text.read") == "not checked: see `runs unplaced`");
    CHECK(text.row("gradients", "text.read") == "not checked: see `runs unplaced`");
    CHECK(text.row("runs on cuda:1", "text.tokenize").starts_with("pass: "));
}

TEST_CASE("verify makes an input from the ports where there is no example (simulated)") {
    const Verified verified(lies(), "no_example");
    CHECK(verified.exit() == 0);
    CHECK(verified.row("runs unplaced") ==
          "pass: on an input made for it (tensor float32[2, 3] on cpu): tensor float32[2, 3] on cpu");
}

TEST_CASE("verify names what crashed and by which signal and goes on (simulated)") {
    CHECK(found_by("crash_in_create") ==
          "defaults: the process was ended by signal 11 (SIGSEGV) while creating it with its defaults");
    CHECK(found_by("crash_in_forward") ==
          "runs unplaced: the process was ended by signal 11 (SIGSEGV) while running it unplaced");
    CHECK(found_by("abort_in_forward") ==
          "runs unplaced: the process was ended by signal 6 (SIGABRT) while running it unplaced");
    CHECK(found_by("crash_on_cuda_1") ==
          "runs on cuda:1: the process was ended by signal 11 (SIGSEGV) while running it on `cuda:1`");
    const Verified verified(lies(), "crash_on_cuda_1");
    CHECK(verified.row("gradients").starts_with("pass: "));
    CHECK(verified.row("unloads") == "pass: ");
    CHECK(verified.row("obeys") == "pass: cpu, meta, cuda:0");
}

TEST_CASE("verify survives a plugin that crashes when it is loaded or let go (simulated)") {
    CHECK(found_by("crash_in_register") == "loads: the process was ended by signal 11 (SIGSEGV) while loading it");
    CHECK(found_by("crash_in_shutdown") == "unloads: the process was ended by signal 11 (SIGSEGV) while unloading it");
}

TEST_CASE("verify ends a plugin that hangs (simulated)") {
    CHECK(found_by("hang_in_forward", {"--timeout", "3"}) ==
          "runs unplaced: it took longer than 3 s (`--timeout` allows more) while running it unplaced");
}

TEST_CASE("verify survives a plugin that ends the process (simulated)") {
    CHECK(found_by("exit_in_forward") == "runs unplaced: the process was ended by exit(3) while running it unplaced");
    CHECK(found_by("leave_in_forward") == "runs unplaced: the process was ended by exit(0) while running it unplaced");
}

TEST_CASE("verify finds a node that ignores its device (simulated)") {
    CHECK(found_by("ignores_device") ==
          "obeys: node `ignores_device` failed: it declared `meta` but returned a value on `cpu`");
}

TEST_CASE("verify runs a node that returns its input itself on what is there already (simulated)") {
    const Verified flow(shipped("flow"));
    CHECK(flow.row("runs on cuda:1", "flow.identity") == "pass: tensor float32[2, 2] on cuda:1");
    CHECK(flow.row("obeys", "flow.identity") == "pass: cpu, meta, cuda:0, cuda:1");
}

TEST_CASE("verify finds a node that leaves a parameter behind (simulated)") {
    CHECK(found_by("leaves_parameter") == "obeys: its parameter `weight` is on `cpu` when it has run on `cuda:0`");
}

TEST_CASE("verify finds a node that leaves memory behind on the device it left (simulated)") {
    CHECK(found_by("leaves_memory") == "obeys: 8 bytes are left on `cuda:0` after it was moved to `cpu`");
}

TEST_CASE("verify finds a node that makes tensors on a device it was not told (simulated)") {
    CHECK(found_by("works_elsewhere") == "obeys: while it ran on `cuda:0` it made 1 tensor on `cuda:1`");
}

TEST_CASE("verify finds a node that replaces its parameter when it moves (simulated)") {
    CHECK(found_by("replaces_parameter") ==
          "there and back: its parameter `weight` is another tensor after it was moved, and an optimiser still holds "
          "the first: move it in place (`state_to`)");
}

TEST_CASE("verify finds handles and statuses that are not released (simulated)") {
    CHECK(found_by("leaks") ==
          "handles released: made, run unplaced and destroyed, it leaves 2 strings behind each time");
    CHECK(found_by("leaks_status") ==
          "handles released: made, run unplaced and destroyed, it leaves 2 statuses behind each time");
    CHECK(found_by("leaks_input") ==
          "handles released: made, run unplaced and destroyed, it leaves 1 tensor behind each time");
}

TEST_CASE("verify finds handles that a backward does not release (simulated)") {
    CHECK(found_by("leaks_in_backward") == "gradients: differentiated, it leaves 1 tensor behind each time");
}

TEST_CASE("verify finds a node that writes to its input (simulated)") {
    CHECK(found_by("writes_input") ==
          "input unmodified: it writes to its input, which others read: element 0 is 1, then 3");
}

TEST_CASE("verify finds a node whose result differs from run to run (simulated)") {
    CHECK(found_by("counts") == "same result twice: run again, it gives something else: element 0 is 1, then 2");
    CHECK(has(found_by("seeded"), "same result twice: with another seed it gives something else, and does not say "
                                  "SOMA_NODE_RANDOM: element 0 is "));
}

TEST_CASE("verify finds a node that is not re-entrant and says so (simulated)") {
    CHECK(found_by("races") ==
          "two threads: run on two threads at once, as it allows, it gives something else: element 0 is 2, then 3");
}

TEST_CASE("verify finds wrong gradients and gradients that are not there (simulated)") {
    CHECK(has(found_by("wrong_backward"), "gradients: by its input, element 0, it says "));
    CHECK(found_by("no_gradient") ==
          "gradients: it says that it is differentiable, and its result carries no gradient");
}

TEST_CASE("verify finds a node that crashes from a configuration (simulated)") {
    CHECK(found_by("crash_on_empty_name") == "wrong configuration: the process was ended by signal 11 (SIGSEGV) "
                                             "while creating it with `name` = \"\"");
}

TEST_CASE("verify finds a schema that promises what the node refuses (simulated)") {
    CHECK(found_by("refuses_its_default") ==
          "defaults: node `refuses_its_default` could not be created: a name must have two letters (plugin `lies`)");
    CHECK(found_by("refuses_a_choice") ==
          "configurations: `name` = \"two\", which its schema allows, is refused: node `refuses_a_choice` could not be "
          "created: not that one (plugin `lies`)");
}

TEST_CASE("verify finds descriptions that say too little or contradict themselves (simulated)") {
    CHECK(found_by("undocumented") == "description: it has no doc: say in one sentence what it does");
    CHECK(found_by("unknown_flag") == "description: it has flags that mean nothing: 0x10000000000");
    const Texts wrong = Verified(lies(), "wrong_example").failures();
    REQUIRE_FALSE(wrong.empty());
    CHECK(wrong.front() == "description: its example is a string, and its input `x` is a tensor");
}

TEST_CASE("verify prints a table that a person can read (simulated)") {
    const Finished done = soma::test::run(launch(lies(), "ignores_device", {}));
    CHECK(done.exit == 1);
    CHECK(done.err.empty());
    CHECK(has(done.out, "lies 1.0.0 (" + lies() + ")\nlibtorch "));
    CHECK(has(done.out, ", simulated cuda:0, cuda:1\n\nnode                check                result\n"));
    CHECK(has(done.out, "\n(plugin)            loads                pass\n"));
    CHECK(has(done.out, "\nlie.ignores_device  runs on meta         not checked: it is not where it was told: see "
                        "`obeys`\n"));
    CHECK(has(done.out, "\nlie.ignores_device  obeys                FAIL: node `ignores_device` failed: "));
    CHECK(has(done.out, "\n14 passed, 1 failed, 4 not checked\n"));
}

TEST_CASE("verify as JSON holds what the table does (simulated)") {
    const Verified verified(lies(), "plain");
    CHECK(verified.said().find("plugin")->as_string() == "lies");
    CHECK(verified.said().find("version")->as_string() == "1.0.0");
    CHECK(verified.said().find("file")->as_string() == lies());
    CHECK(*verified.said().find("devices") == Value::list({"cuda:0", "cuda:1"}));
    CHECK(verified.said().find("passed")->as_int() == 19);
    const Value& first = verified.said().find("checks")->at(0);
    CHECK(first.find("node")->is_none());
    CHECK(first.find("check")->as_string() == "loads");
    CHECK(first.find("result")->as_string() == "pass");
}

TEST_CASE("verify keeps what a plugin prints out of its own output (simulated)") {
    const Finished done = soma::test::run(launch(lies(), "prints", {"--json"}));
    CHECK(done.exit == 0);
    CHECK(has(done.err, "printed by the plugin"));
    CHECK_FALSE(has(done.out, "printed by the plugin"));
}

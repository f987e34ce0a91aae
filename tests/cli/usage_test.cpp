// SPDX-License-Identifier: Apache-2.0
// The command line: what it takes, what it says when it is wrong, and that it then ends with 2.
#include <csignal>

#include "process.h"
#include "soma/version.h"
#include "support/catch.h"

using soma::test::Finished;
using soma::test::Launch;
using soma::test::somatize;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Ends with 2, prints nothing, and says it in the first line.
void refused(const std::vector<std::string>& args, const std::string& message) {
    INFO(message);
    const Finished done = somatize(args);
    CHECK(done.exit == 2);
    CHECK(done.out.empty());
    CHECK(done.err.substr(0, done.err.find('\n')) == "somatize: error: " + message);
}

} // namespace

TEST_CASE("the program says its version and the ABI's") {
    const Finished done = somatize({"--version"});
    CHECK(done.exit == 0);
    CHECK(done.out.starts_with("somatize " + std::string(soma::version()) + " (plugin ABI "));
    CHECK(done.err.empty());
}

TEST_CASE("the overview lists every command and goes to standard output when asked for") {
    for (const std::string asked : {"--help", "-h", "help"}) {
        const Finished done = somatize({asked});
        CHECK(done.exit == 0);
        CHECK(done.err.empty());
        for (const char* command : {"run", "plan", "devices", "draw", "check", "nodes", "inspect"}) {
            CHECK(has(done.out, "\n  " + std::string(command) + " "));
        }
    }
}

TEST_CASE("no arguments at all is a usage error that shows the overview") {
    const Finished done = somatize({});
    CHECK(done.exit == 2);
    CHECK(done.out.empty());
    CHECK(has(done.err, "Usage: somatize COMMAND"));
}

TEST_CASE("every command has a help page with its usage and an example that names it") {
    for (const std::string command : {"run", "plan", "devices", "draw", "check", "nodes", "inspect"}) {
        const Finished done = somatize({command, "--help"});
        CHECK(done.exit == 0);
        CHECK(has(done.out, "Usage: somatize " + command));
        CHECK(has(done.out, "Example:\n  somatize " + command));
        CHECK(has(done.out, "--json"));
        CHECK(somatize({"help", command}).out == done.out);
    }
}

TEST_CASE("an unknown command offers the nearest") {
    refused({"rnu"}, "there is no command `rnu` (did you mean `run`?)");
    refused({"help", "inspct"}, "there is no command `inspct` (did you mean `inspect`?)");
}

TEST_CASE("an unknown option offers the nearest") {
    refused({"devices", "probe.echo", "--jsno"}, "`devices` takes no option `--jsno` (did you mean `--json`?)");
    refused({"run", "probe.echo", "--plugin=x"}, "`run` takes no option `--plugin` (did you mean `--plugins`?)");
}

TEST_CASE("commands that place nothing say why they take no simulated devices") {
    const std::string why = ": it has nothing to do with devices; the commands that take a graph have it";
    refused({"nodes", "--simulate", "cuda:2"}, "`nodes` takes no option `--simulate`" + why);
    refused({"inspect", "probe.echo", "--simulate=cuda:2"}, "`inspect` takes no option `--simulate`" + why);
    refused({"new", "hello", "--simulate", "cuda:2"}, "`new` takes no option `--simulate`" + why);
    refused({"verify", "x.soma.so", "--simulate", "cuda:2"},
            "`verify` takes no option `--simulate`: it simulates `cuda:0` and `cuda:1` itself where the machine has no "
            "CUDA devices");
}

TEST_CASE("an unknown option is told before what is missing on its account") {
    refused({"run", "--plugin"}, "`run` takes no option `--plugin` (did you mean `--plugins`?)");
}

TEST_CASE("an option before the command says where options go") {
    const Finished done = somatize({"--json", "nodes"});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "options follow the command"));
}

TEST_CASE("a usage error says where the help is") {
    CHECK(has(somatize({"run"}).err, "`somatize run --help` shows how it is used"));
    CHECK(has(somatize({"rnu"}).err, "`somatize --help` lists the commands"));
}

TEST_CASE("a missing graph is a usage error that says what a graph is") {
    for (const std::string command : {"run", "plan", "devices", "draw", "check"}) {
        refused({command}, "GRAPH is missing: a .soma file, a graph's .json file, or the expression itself");
    }
}

TEST_CASE("an expression cut up by the shell is told to be quoted") {
    refused({"plan", "probe.echo", "probe.fail"},
            "`probe.fail` is one argument too many; an expression with blanks in it wants quotes around it");
}

TEST_CASE("of arguments that are no expression the one too many is told") {
    refused({"nodes", "a", "b"}, "`b` is one argument too many: `nodes` takes one PATTERN");
    refused({"new", "a", "b"}, "`b` is one argument too many: `new` takes one NAME");
}

TEST_CASE("an option without its value is a usage error") {
    refused({"run", "probe.echo", "--in"}, "`--in` wants VALUE|@FILE after it");
    refused({"run", "probe.echo", "-j"}, "`-j` wants N after it");
}

TEST_CASE("values are attached or follow and flags of one letter can be joined") {
    for (const std::vector<std::string>& how : {std::vector<std::string>{"--in=5"},
                                                {"--in", "5"},
                                                {"--in=5", "-j2"},
                                                {"-j", "2", "--in", "5"},
                                                {"-qj2", "--in=5"}}) {
        std::vector<std::string> args{"run", "-q"};
        args.insert(args.end(), how.begin(), how.end());
        args.emplace_back("probe.echo");
        const Finished done = somatize(args);
        CHECK(done.exit == 0);
        CHECK(done.out == "5\n");
    }
    CHECK(somatize({"run", "-q", "--in=", "probe.echo"}).out == "\n");
    CHECK(somatize({"run", "-q", "--in=a=b", "probe.echo"}).out == "a=b\n");
    CHECK(somatize({"run", "-q", "--in", "1", "--", "probe.echo"}).out == "1\n");
    CHECK(somatize({"run", "-q", "probe.echo", "--in", "--"}).out == "--\n");
}

TEST_CASE("a beginning of an option is no option and a flag takes no value") {
    refused({"run", "probe.echo", "--plug", "x"}, "`run` takes no option `--plug` (did you mean `--plugins`?)");
    refused({"run", "probe.echo", "--json=yes"}, "`--json` takes no value: it is there or not");
    refused({"run", "probe.echo", "-qx"}, "`run` takes no option `-x`");
    refused({"run", "probe.echo", "--", "--json"},
            "`--json` is one argument too many; an expression with blanks in it wants quotes around it");
}

TEST_CASE("an option given twice that is meant once is a usage error") {
    refused({"run", "probe.echo", "--in", "1", "--in", "2"}, "`--in` is given 2 times");
    CHECK(somatize({"run", "probe.echo", "--json", "--json"}).exit == 0);
}

TEST_CASE("numbers out of bounds are usage errors that say the bounds") {
    refused({"run", "probe.echo", "--jobs", "0"}, "--jobs wants a whole number from 1 to 4096, not `0`");
    refused({"run", "probe.echo", "-j", "two"}, "--jobs wants a whole number from 1 to 4096, not `two`");
    refused({"run", "probe.echo", "--jobs", "-1"}, "--jobs wants a whole number from 1 to 4096, not `-1`");
    refused({"run", "probe.echo", "--seed", "1.5"},
            "--seed wants a whole number from 0 to 18446744073709551615, not `1.5`");
    for (const std::string text : {"0", "-1", "nan", "inf", "soon", "1e400", "1e30", ""}) {
        refused({"run", "probe.echo", "--timeout", text},
                "--timeout wants a number of seconds greater than 0 and up to 31536000, a year, such as 2.5, not `" +
                    text + "`");
    }
}

TEST_CASE("what to simulate says how many and of which kind") {
    for (const std::string text : {"cuda", "4", "cpu:1", "CUDA:1"}) {
        refused({"devices", "probe.echo", "--simulate", text},
                "--simulate wants how many devices of which kind, such as `cuda:4`, not `" + text + "`");
    }
    refused({"devices", "probe.echo", "--simulate", "cuda:0"},
            "the number after `--simulate cuda:` wants a whole number from 1 to 64, not `0`");
    refused({"devices", "probe.echo", "--simulate", "cuda:65"},
            "the number after `--simulate cuda:` wants a whole number from 1 to 64, not `65`");
}

TEST_CASE("a placement on the command line has an id and a device") {
    refused({"devices", "probe.echo", "--place", "echo"},
            "--place wants ID=DEVICE, such as `encoder=cuda:0`, not `echo`");
    refused({"devices", "probe.echo", "--place", "=cpu"},
            "--place wants ID=DEVICE, such as `encoder=cuda:0`, not `=cpu`");
}

TEST_CASE("an input file that is not there is a usage error that names it") {
    const Finished done = somatize({"run", "probe.echo", "--in", "@/nowhere/at all"});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "`/nowhere/at all`"));
    CHECK(has(done.err, "No such file or directory"));
}

TEST_CASE("a folder of plugins that is not there is a usage error that names it") {
    const Finished done = somatize({"nodes", "--plugins", "/nowhere/plugins"});
    CHECK(done.exit == 2);
    CHECK(has(done.err, "--plugins /nowhere/plugins: there is no such folder or file"));
}

TEST_CASE("a full disk under standard output is noticed") {
    for (const std::vector<std::string>& args : {std::vector<std::string>{"--version"},
                                                 {"--help"},
                                                 {"nodes"},
                                                 {"devices", "probe.echo"},
                                                 {"run", "probe.echo", "--in", "x"}}) {
        Launch launch;
        launch.args = args;
        launch.out_file = "/dev/full";
        const Finished done = soma::test::run(launch);
        CHECK(done.exit == 1);
        CHECK(done.err == "somatize: error: cannot write the output: No space left on device\n");
    }
}

TEST_CASE("a pipe that nobody reads is noticed and no signal ends the program") {
    Launch launch;
    launch.args = {"nodes"};
    launch.out_unread = true;
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 1);
    CHECK(done.signal == 0);
    CHECK(done.err == "somatize: error: cannot write the output: Broken pipe\n");
}

TEST_CASE("a closed standard output is noticed") {
    Launch launch;
    launch.args = {"nodes"};
    launch.out_closed = true;
    const Finished done = soma::test::run(launch);
    CHECK(done.exit == 1);
    CHECK(has(done.err, "cannot write the output: Bad file descriptor"));
}

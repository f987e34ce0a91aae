// SPDX-License-Identifier: Apache-2.0
// The main job: which texts of a folder are nearest to each other.
#include <map>
#include <random>
#include <set>

#include "process.h"
#include "soma/json.h"
#include "soma/value.h"
#include "support/catch.h"

using soma::Value;
using soma::test::Finished;
using soma::test::somatize;
using soma::test::TemporaryFolder;
using soma::test::write_file;

namespace fs = std::filesystem;

namespace {

const fs::path licences = "/usr/share/common-licenses";

std::string graph() { return (soma::test::source_dir() / "docs/examples/licence.soma").string(); }

struct Near {
    std::string name;
    double score;
};

std::map<std::string, Near> read(const Value& result) {
    std::map<std::string, Near> out;
    for (std::size_t i = 0; i < result.size(); ++i) {
        const Value& row = result.at(i);
        out[fs::path(row.find("name")->as_string()).filename().string()] = {
            fs::path(row.find("nearest")->as_string()).filename().string(), row.find("score")->as_float()};
    }
    return out;
}

Finished run_on(const fs::path& folder, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{"run", graph(), "--in", folder.string()};
    args.insert(args.end(), more.begin(), more.end());
    return somatize(args);
}

/// The demo's own command line, if the licences are there.
Value licence_result(const std::vector<std::string>& more = {}) {
    if (!fs::is_directory(licences)) soma_skip("this system has no /usr/share/common-licenses");
    std::vector<std::string> args{"run", graph(), "--in", licences.string(), "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const Finished done = somatize(args);
    INFO(done.err);
    REQUIRE(done.exit == 0);
    return *soma::parse_json(done.out).find("result");
}

/// Words from nowhere, the same for the same generator.
std::string sentence(std::mt19937& random, std::size_t words) {
    std::string out;
    for (std::size_t i = 0; i < words; ++i) {
        const std::size_t length = 3 + random() % 7;
        for (std::size_t j = 0; j < length; ++j) out += static_cast<char>('a' + random() % 26);
        out += i % 12 == 11 ? ".\n" : " ";
    }
    return out;
}

} // namespace

TEST_CASE("the demo finds the licences that belong together") {
    const auto near = read(licence_result());
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(licences)) files += entry.is_symlink() ? 0 : 1;
    CHECK(near.size() == files);
    for (const auto& [one, other] :
         std::map<std::string, std::string>{{"GFDL-1.2", "GFDL-1.3"}, {"LGPL-2", "LGPL-2.1"}, {"GPL-1", "GPL-2"}}) {
        INFO(one << " and " << other);
        REQUIRE(near.count(one) == 1);
        REQUIRE(near.count(other) == 1);
        CHECK(near.at(one).name == other);
        CHECK(near.at(other).name == one);
        CHECK(near.at(one).score == near.at(other).score);
    }
    CHECK(near.at("GFDL-1.2").score == Approx(0.998).margin(0.02));
    CHECK(near.at("LGPL-2").score == Approx(0.998).margin(0.02));
    CHECK(near.at("GPL-1").score == Approx(0.984).margin(0.03));
}

TEST_CASE("the demo gives the same to the last bit whatever the number of jobs") {
    const std::string one = soma::to_json(licence_result({"--jobs", "1"}));
    for (const char* jobs : {"2", "3", "8"}) CHECK(soma::to_json(licence_result({"--jobs", jobs})) == one);
}

TEST_CASE("the demo prints a table of names and scores and then the table of nodes") {
    if (!fs::is_directory(licences)) soma_skip("this system has no /usr/share/common-licenses");
    const Finished done = somatize({"run", graph(), "--in", licences.string()});
    CHECK(done.exit == 0);
    CHECK(done.out.starts_with("name"));
    CHECK(done.out.find("\n\nnode") != std::string::npos);
    CHECK(done.out.find("float32[") != std::string::npos);
}

TEST_CASE("the demo is right on ten texts under random names") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::set<std::string> names;
    while (names.size() < 10) {
        std::string name;
        for (int i = 0; i < 8; ++i) name += static_cast<char>('a' + random() % 26);
        names.insert(name + ".txt");
    }
    std::vector<std::string> shuffled(names.begin(), names.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);

    const TemporaryFolder folder;
    // Three pairs: the second text of each is the first with a tenth more.
    for (std::size_t pair = 0; pair < 3; ++pair) {
        const std::string text = sentence(random, 400);
        write_file(folder.path() / shuffled[2 * pair], text);
        write_file(folder.path() / shuffled[2 * pair + 1], text + sentence(random, 40));
    }
    for (std::size_t i = 6; i < 10; ++i) write_file(folder.path() / shuffled[i], sentence(random, 400));
    fs::create_symlink(shuffled[0], folder.path() / "link.txt");

    const Finished done = run_on(folder.path(), {"--json"});
    INFO(done.err);
    REQUIRE(done.exit == 0);
    const auto near = read(*soma::parse_json(done.out).find("result"));
    CHECK(near.size() == 10);
    for (std::size_t i = 0; i < 6; ++i) {
        const std::string& other = shuffled[i ^ 1U];
        INFO(shuffled[i] << " and " << other);
        REQUIRE(near.count(shuffled[i]) == 1);
        CHECK(near.at(shuffled[i]).name == other);
        CHECK(near.at(shuffled[i]).score > 0.9);
    }
}

TEST_CASE("the demo on a folder without files finds nothing") {
    const TemporaryFolder folder;
    const Finished done = run_on(folder.path(), {"--quiet"});
    CHECK(done.exit == 0);
    CHECK(done.out == "[]\n");
}

TEST_CASE("the demo names a file that has nothing to be compared with") {
    const TemporaryFolder folder;
    write_file(folder.path() / "a.txt", "some words and more of them");
    write_file(folder.path() / "empty.txt", "");
    const Finished done = run_on(folder.path(), {"--quiet"});
    CHECK(done.exit == 0);
    CHECK(done.out == "name       nearest  score\n"
                      "a.txt            -      -\n"
                      "empty.txt        -      -\n");
}

TEST_CASE("the demo on a folder that is not there names it") {
    const Finished done = run_on("/nowhere/texts");
    CHECK(done.exit == 1);
    CHECK(done.err.find("/nowhere/texts") != std::string::npos);
}

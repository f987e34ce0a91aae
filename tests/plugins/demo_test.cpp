// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>

#include "exact.h"
#include "run.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma;
using namespace soma::test;

namespace {

namespace fs = std::filesystem;
const fs::path licences = "/usr/share/common-licenses";

struct Found {
    std::string nearest;
    double score;
};

std::string graph() { return read(source_dir() / "docs/examples/licence.soma"); }

std::map<std::string, Found> by_name(const Value& records) {
    std::map<std::string, Found> found;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Value& record = records.at(i);
        found[std::string{record.find("name")->as_string()}] = {std::string{record.find("nearest")->as_string()},
                                                                record.find("score")->as_float()};
    }
    return found;
}

std::map<std::string, Found> search(const fs::path& directory, std::size_t jobs = 0) {
    PipelineOptions options;
    options.jobs = jobs;
    return by_name(somatize(graph(), catalog(), options).run(directory.string()));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

std::vector<std::string> licence_names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{licences}) {
        if (entry.is_regular_file() && !entry.is_symlink()) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Ten texts under random names: three pairs of near-duplicates and four of their own.
struct Planted {
    std::map<std::string, std::string> twin;
    std::vector<std::string> names;
};

Planted plant(const fs::path& directory, unsigned seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>{0, bound - 1}(random);
    };
    const auto word = [&] {
        std::string letters;
        for (std::size_t i = 0, size = 2 + below(7); i < size; ++i) letters += static_cast<char>('a' + below(26));
        return letters;
    };
    std::vector<std::string> vocabulary;
    for (int i = 0; i < 600; ++i) vocabulary.push_back(word());
    // As in real texts a few words are frequent: unrelated texts are alike as well.
    const auto some_word = [&] { return vocabulary[std::min({below(600), below(600), below(600)})]; };

    Planted planted;
    const auto add = [&](const std::vector<std::string>& words) {
        std::string name = word() + std::to_string(below(1000));
        while (fs::exists(directory / name)) name += 'x';
        std::string text;
        for (const std::string& item : words) text += item + (below(12) == 0 ? ".\n" : " ");
        write(directory / name, text);
        planted.names.push_back(name);
        return name;
    };
    for (int text = 0; text < 7; ++text) {
        std::vector<std::string> words;
        for (std::size_t i = 0, size = 400 + below(800); i < size; ++i) words.push_back(some_word());
        const std::string name = add(words);
        if (text >= 3) continue;
        for (std::string& item : words) {
            if (below(20) == 0) item = some_word();
        }
        const std::string copy = add(words);
        planted.twin[name] = copy;
        planted.twin[copy] = name;
    }
    return planted;
}

} // namespace

TEST_CASE("the demo finds the licences that are near-duplicates of each other") {
    if (!fs::exists(licences / "GFDL-1.3")) soma_skip("this system has no licence texts in /usr/share/common-licenses");
    const auto found = search(licences);
    CHECK(found.size() == licence_names().size());
    const std::map<std::string, std::pair<std::string, double>> pairs{
        {"GFDL-1.2", {"GFDL-1.3", 0.998}}, {"LGPL-2", {"LGPL-2.1", 0.998}}, {"GPL-1", {"GPL-2", 0.984}}};
    for (const auto& [name, expected] : pairs) {
        const auto& [twin, score] = expected;
        CHECK(found.at(name).nearest == twin);
        CHECK(found.at(twin).nearest == name);
        CHECK(found.at(name).score == Approx(score).margin(0.008));
        CHECK(found.at(twin).score == found.at(name).score);
    }
}

TEST_CASE("the demo agrees with exact counts wherever these are clear") {
    if (!fs::exists(licences / "GFDL-1.3")) soma_skip("this system has no licence texts in /usr/share/common-licenses");
    const std::vector<std::string> names = licence_names();
    std::vector<std::string> texts;
    for (const std::string& name : names) texts.push_back(read(licences / name));
    const std::vector<Match> exact = exact_nearest(texts);
    const auto found = search(licences);
    std::size_t clear = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        CAPTURE(names[i], exact[i].score, exact[i].margin);
        CHECK(found.at(names[i]).score == Approx(exact[i].score).margin(0.03));
        if (exact[i].margin < 0.03) continue;
        ++clear;
        CHECK(found.at(names[i]).nearest == names[exact[i].nearest]);
    }
    CHECK(clear >= 6);
}

TEST_CASE("the demo is right whatever table its bags draw") {
    if (!fs::exists(licences / "GFDL-1.3")) soma_skip("this system has no licence texts in /usr/share/common-licenses");
    // Without GFDL-1.1, which some systems have: it is as near to GFDL-1.2 as GFDL-1.3 is, but for the fourth digit.
    const TemporaryFolder folder;
    for (const std::string& name : licence_names()) {
        if (name != "GFDL-1.1") fs::copy_file(licences / name, folder.path() / name);
    }
    for (int seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        const std::string text = replaced(graph(), "dim=1024", "dim=1024, seed=" + std::to_string(seed));
        REQUIRE(text != graph());
        const auto found = by_name(somatize(text, catalog()).run(folder.path().string()));
        CHECK(found.at("GFDL-1.2").nearest == "GFDL-1.3");
        CHECK(found.at("GFDL-1.3").nearest == "GFDL-1.2");
        CHECK(found.at("LGPL-2").nearest == "LGPL-2.1");
        CHECK(found.at("LGPL-2.1").nearest == "LGPL-2");
        CHECK(found.at("GPL-1").nearest == "GPL-2");
        CHECK(found.at("GPL-2").nearest == "GPL-1");
    }
}

TEST_CASE("the demo's result does not depend on the number of jobs") {
    if (!fs::exists(licences / "GFDL-1.3")) soma_skip("this system has no licence texts in /usr/share/common-licenses");
    const auto with = [](std::size_t jobs) {
        PipelineOptions options;
        options.jobs = jobs;
        return to_json(somatize(graph(), catalog(), options).run(licences.string()));
    };
    const std::string alone = with(1);
    CHECK(with(2) == alone);
    CHECK(with(4) == alone);
}

TEST_CASE("the demo's graph finds planted pairs among random texts under random names") {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        const TemporaryFolder folder;
        const Planted planted = plant(folder.path(), seed);
        const auto found = search(folder.path());
        REQUIRE(found.size() == 10);
        for (const auto& [name, twin] : planted.twin) CHECK(found.at(name).nearest == twin);
    }
}

TEST_CASE("the demo leaves out symbolic links and directories") {
    const TemporaryFolder folder;
    write(folder.path() / "one", "the quick brown fox");
    write(folder.path() / "two", "the quick brown dog");
    fs::create_symlink(folder.path() / "one", folder.path() / "alias");
    fs::create_directory(folder.path() / "within");
    write(folder.path() / "within/three", "not this one");
    const auto found = search(folder.path());
    REQUIRE(found.size() == 2);
    CHECK(found.at("one").nearest == "two");
    CHECK(found.at("two").nearest == "one");
}

TEST_CASE("the demo of an empty directory is an empty list and of one file says that nothing is near") {
    const TemporaryFolder folder;
    auto demo = somatize(graph(), catalog());
    CHECK(to_json(demo.run(folder.path().string())) == "[]");
    write(folder.path() / "one", "alone");
    CHECK(to_json(demo.run(folder.path().string())) == R"([{"name": "one", "nearest": null, "score": null}])");
}

// SPDX-License-Identifier: Apache-2.0
// Plugins damaged at random: they are looked at, never loaded, in a child process, which must neither crash nor hang.
#include <cstring>
#include <random>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "hostile/files.h"
#include "plugin/elf.h"
#include "plugin/features.h"
#include "plugin/file.h"
#include "soma/abi.h"
#include "soma/error.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;

namespace {

struct Range {
    std::size_t begin;
    std::size_t size;
};

// Where damage is most likely to lead astray: headers, symbols, their names, notes.
std::vector<Range> delicate_parts(const std::string& bytes) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<Range> parts{{0, sizeof header},
                             {header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)},
                             {header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)}};
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
        const bool delicate =
            section.sh_type == SHT_DYNSYM || section.sh_type == SHT_STRTAB || section.sh_type == SHT_NOTE;
        if (delicate && section.sh_size > 0) parts.push_back({section.sh_offset, section.sh_size});
    }
    return parts;
}

// Where the names of features are found by: what is loaded, and how its pointers are made.
std::vector<Range> pointers(const std::string& bytes) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<Range> parts;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
        const bool data = section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_WRITE) != 0;
        const bool delicate = data || section.sh_type == SHT_RELA || section.sh_type == SHT_DYNAMIC;
        if (delicate && section.sh_size > 0) parts.push_back({section.sh_offset, section.sh_size});
    }
    return parts;
}

// Damages copies of the file, mostly in those parts, and looks at each; gives "N refused" at the end.
std::string look_at_damaged(const std::filesystem::path& path, const std::string& sound,
                            const std::vector<Range>& parts, int rounds, unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string bytes = sound;
        for (std::size_t count = 1 + below(8); count > 0; --count) {
            const Range part = below(8) == 0 ? Range{0, bytes.size()} : parts[below(parts.size())];
            const std::size_t at = part.begin + below(part.size);
            switch (below(4)) {
            case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
            case 1: bytes[at] = static_cast<char>(below(256)); break;
            case 2: bytes[at] = '\xff'; break;
            default: {
                // A whole number at once, as large as it can be or nearly so.
                const std::uint64_t numbers[] = {~0ull, ~0ull >> 1, 1ull << 63, bytes.size(), bytes.size() - 1, 0};
                const std::uint64_t number = numbers[below(std::size(numbers))];
                std::memcpy(bytes.data() + at / 8 * 8, &number, std::min<std::size_t>(8, bytes.size() - at / 8 * 8));
            }
            }
        }
        if (pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "cannot write";
        try {
            const auto damaged = detail::PluginFile::open(path);
            const auto facts = detail::inspect_elf(damaged);
            for (const unsigned bit : {5U, 63U}) {
                if (detail::feature_name_in(damaged, facts, bit).size() > 256) return "a name that is too long";
            }
        } catch (const PluginError&) {
            ++refused;
        }
    }
    close(file);
    return std::to_string(refused) + " refused";
}

void damage(std::string_view plugin, int rounds) {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "damaged.soma.so";
    const std::string sound = read_file(plugin_file(plugin));
    write_file(path, sound);
    CHECK_NOTHROW(detail::inspect_elf(detail::PluginFile::open(path)));
    for (unsigned seed = 1; seed <= 4; ++seed) {
        const std::string told = in_child([&] {
            alarm(60);
            return look_at_damaged(path, sound, delicate_parts(sound), rounds, seed) + ", " +
                   look_at_damaged(path, sound, pointers(sound), rounds, seed);
        });
        INFO(told);
        // Most damage is seen; some of it, such as another name for a section, does no harm.
        CHECK(told.ends_with(" refused"));
        CHECK(std::atoi(told.c_str()) > rounds / 4);
    }
}

} // namespace

TEST_CASE("no damage to a plugin in C makes looking at it crash or hang") { damage("values", 4000); }
TEST_CASE("no damage to a plugin in C++ makes looking at it crash or hang") { damage("throws", 2000); }
TEST_CASE("no damage to a plugin with a note makes looking at it crash or hang") { damage("other_torch", 4000); }
TEST_CASE("no damage to a plugin with features makes looking at it crash or hang") { damage("unknown_feature", 4000); }

TEST_CASE("the names of features are read before the plugin is loaded") {
    const auto name = [](std::string_view plugin, unsigned bit) {
        const auto file = detail::PluginFile::open(plugin_file(plugin));
        return detail::feature_name_in(file, detail::inspect_elf(file), bit);
    };
    CHECK(name("unknown_feature", 5) == "tensor-parallel");
    CHECK(name("unknown_feature", 63).empty());
    CHECK(name("values", 5).empty());
}

TEST_CASE("the note that names a libtorch is read before the plugin is loaded") {
    const auto facts = detail::inspect_elf(detail::PluginFile::open(plugin_file("other_torch")));
    CHECK(facts.fingerprint == "libtorch=9.9.9;cxx11abi=1");
    CHECK(facts.entry_size == sizeof(soma_entry));
    CHECK_FALSE(detail::inspect_elf(detail::PluginFile::open(plugin_file("values"))).fingerprint);
}

TEST_CASE("a plugin linked against another libtorch is refused and never loaded") {
    const std::string told = refusal(plugin_file("other_torch"));
    // With an engine it is compared, without one there is nothing to compare with.
    const bool compared = told.find("it was linked against another libtorch: expected `libtorch=") == 0 &&
                          told.find("`, got `libtorch=9.9.9;cxx11abi=1`; build it against the libtorch that this host "
                                    "uses") != std::string::npos;
    const bool no_engine = told.find("it was linked against libtorch (libtorch=9.9.9;cxx11abi=1), and ") == 0;
    INFO(told);
    CHECK((compared || no_engine));
}

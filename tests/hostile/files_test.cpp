// SPDX-License-Identifier: Apache-2.0
// Files that are no plugins, and plugins in odd places.
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "hostile/files.h"
#include "soma/catalog.h"
#include "soma/error.h"
#include "support/catch.h"

using namespace soma;
using namespace soma::test;
namespace fs = std::filesystem;

namespace {

const std::string again = "; copy or build it again";

// A copy of a sound plugin with some of its bytes changed.
fs::path patched(const TemporaryFolder& folder, const std::function<void(std::string&)>& change) {
    std::string bytes = read_file(plugin_file("values"));
    change(bytes);
    fs::path path = folder.path() / "patched.soma.so";
    write_file(path, bytes);
    return path;
}

void replace_all(std::string& bytes, std::string_view from, std::string_view to) {
    REQUIRE(from.size() == to.size());
    std::size_t count = 0;
    for (std::size_t at = 0; (at = bytes.find(from, at)) != std::string::npos; ++count) {
        bytes.replace(at, from.size(), to);
    }
    REQUIRE(count > 0);
}

} // namespace

TEST_CASE("a text file is refused as what it is") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "text.soma.so";
    write_file(path, "#!/bin/sh\necho this is a shell script and no shared library at all, whatever its name says\n");
    CHECK(refusal(path) ==
          "expected a shared library (an ELF file), got a file that begins with `#!/bin/sh\\x0aecho t`");
}

TEST_CASE("an empty file and a tiny one are refused") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "empty.soma.so";
    write_file(path, "");
    CHECK(refusal(path) == "it is empty, 0 bytes" + again);
    write_file(path, "\x7f"
                     "ELF");
    CHECK(refusal(path) == "it has 4 bytes, fewer than any shared library" + again);
}

TEST_CASE("a truncated library is refused before it is loaded wherever it was cut") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "cut.soma.so";
    const std::string whole = read_file(plugin_file("values"));
    for (std::size_t parts = 1; parts < 16; ++parts) {
        write_file(path, whole.substr(0, whole.size() * parts / 16));
        CHECK(refusal(path).find("it is cut short: ") == 0);
    }
    write_file(path, whole.substr(0, whole.size() - 1));
    CHECK(refusal(path) == "it is cut short: its table of sections ends at byte " + std::to_string(whole.size()) +
                               ", the file at " + std::to_string(whole.size() - 1) + again);
}

TEST_CASE("a FIFO and a directory and a socket and a device are refused without opening them") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "odd.soma.so";
    SECTION("a FIFO, of which opening would wait for ever") {
        REQUIRE(mkfifo(path.c_str(), 0600) == 0);
        CHECK(refusal(path) == "expected a regular file, got a FIFO");
    }
    SECTION("a link to a FIFO") {
        REQUIRE(mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
        fs::create_symlink("fifo", path);
        CHECK(refusal(path) == "expected a regular file, got a FIFO");
    }
    SECTION("a directory") {
        fs::create_directory(path);
        CHECK(refusal(path) == "expected a regular file, got a directory");
    }
    SECTION("a socket") {
        const int socket_end = socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        REQUIRE(bind(socket_end, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        CHECK(refusal(path) == "expected a regular file, got a socket");
        close(socket_end);
    }
    SECTION("a device") {
        fs::create_symlink("/dev/null", path);
        CHECK(refusal(path) == "expected a regular file, got a character device");
    }
}

TEST_CASE("a file that is not there and links that lead nowhere are refused") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "none.soma.so";
    CHECK(refusal(path) == "it cannot be found: No such file or directory");
    fs::create_symlink("nothing", path);
    CHECK(refusal(path) == "it is a symbolic link that leads nowhere: No such file or directory");
    fs::remove(path);
    fs::create_symlink("none.soma.so", path);
    CHECK(refusal(path) == "it is a symbolic link that leads nowhere: Too many levels of symbolic links");
}

TEST_CASE("a file of another name is refused when it is loaded and passed over in a directory") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "values.so";
    fs::copy_file(plugin_file("values"), path);
    CHECK(refusal(path) == "the name of a plugin's file ends in `.soma.so`; rename it if it is one");
    Catalog catalog;
    catalog.load_directory(folder.path());
    CHECK(catalog.plugins().empty());
    CHECK(catalog.refusals().empty());
}

TEST_CASE("a file larger than any plugin is refused without reading it") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "huge.soma.so";
    write_file(path, "x");
    REQUIRE(truncate(path.c_str(), std::int64_t{1} << 34) == 0);
    CHECK(refusal(path) == "it has 17179869184 bytes, expected at most 8589934592");
}

TEST_CASE("a file that may not be read is refused") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "secret.soma.so";
    fs::copy_file(plugin_file("values"), path);
    fs::permissions(path, fs::perms::none);
    fs::permissions(folder.path(), fs::perms::all);
    const std::string told = in_child([&] {
        // Root may read everything.
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return std::string("root cannot be somebody else");
        return refusal(path);
    });
    CHECK(told == "it cannot be read: Permission denied; give yourself the right to, with chmod");
}

TEST_CASE("a library for another machine is refused naming both") {
    const TemporaryFolder folder;
    const auto machine = [&](char low) {
        return refusal(patched(folder, [&](std::string& bytes) {
            bytes[18] = low;
            bytes[19] = 0;
        }));
    };
    const std::string told = machine(22);
    CHECK(told.find("expected a library for ") == 0);
    CHECK(told.find(", got one for IBM Z; get the plugin built for this machine") != std::string::npos);
    CHECK(machine(99).find(", got one for ELF machine 99; ") != std::string::npos);
}

TEST_CASE("libraries of another width or byte order and files of another kind are refused") {
    const TemporaryFolder folder;
    const auto byte = [&](std::size_t at, char value) {
        return refusal(patched(folder, [&](std::string& bytes) { bytes[at] = value; }));
    };
    CHECK(byte(4, 1) == "expected a 64-bit library, got one that is not; build it for 64 bits");
    CHECK(byte(5, 2) == "expected a little-endian library, got a big-endian one");
    CHECK(byte(16, 1) == "expected a shared library, got an object file; link it with -shared");
    CHECK(byte(16, 2) == "expected a shared library, got a program; link it with -shared");
}

TEST_CASE("a library without the entry is no plugin") {
    const TemporaryFolder folder;
    CHECK(refusal(patched(folder,
                          [](std::string& bytes) { replace_all(bytes, "soma_plugin_entry", "soma_plugin_entrx"); })) ==
          "it is a shared library but no plugin: it does not export `soma_plugin_entry`; define it, and export it "
          "by the linker's version script");
    CHECK(refusal(plugin_file("not_an_object")) == "expected `soma_plugin_entry` to be an object, got a function");
    CHECK(refusal(plugin_file("small_object")) ==
          "expected `soma_plugin_entry` to have 48 to 4096 bytes, got 8; define "
          "it as a soma_entry");
}

TEST_CASE("a library that needs one that is missing is refused in the loader's words") {
    const TemporaryFolder folder;
    const std::string told =
        refusal(patched(folder, [](std::string& bytes) { replace_all(bytes, "libc.so.6", "libx.so.6"); }));
    CHECK(told.find("the system cannot load it: libx.so.6: cannot open shared object file") == 0);
    CHECK(told.find("; install what it needs, or build it for this system") != std::string::npos);
}

TEST_CASE("a stripped plugin loads") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "stripped.soma.so";
    REQUIRE(std::system(
                (std::string(SOMA_STRIP) + " -o " + path.string() + ' ' + plugin_file("values").string()).c_str()) ==
            0);
    CHECK(fs::file_size(path) < fs::file_size(plugin_file("values")));
    CHECK(refusal(path) == "");
}

TEST_CASE("the same content is one plugin wherever it lies") {
    const TemporaryFolder folder;
    const fs::path copy = folder.path() / "copy.soma.so";
    fs::copy_file(plugin_file("values"), copy);
    fs::create_symlink(copy, folder.path() / "link.soma.so");
    fs::create_hard_link(copy, folder.path() / "name.soma.so");
    fs::create_directory(folder.path() / "more");
    fs::copy_file(copy, folder.path() / "more/values.soma.so");
    Catalog catalog;
    catalog.load_directory(folder.path());
    catalog.load_directory(folder.path() / "more");
    const auto plugin = catalog.load_file(plugin_file("values"));
    CHECK(catalog.refusals().empty());
    REQUIRE(catalog.plugins().size() == 1);
    CHECK(catalog.plugins().front() == plugin);
    CHECK(plugin->path == fs::canonical(copy));
    CHECK(catalog.types().size() == plugin->types.size());
}

TEST_CASE("a link to a plugin is loaded by its canonical path") {
    const TemporaryFolder folder;
    const fs::path target = folder.path() / "libvalues.so.1";
    fs::copy_file(plugin_file("values"), target);
    fs::create_symlink(target, folder.path() / "values.soma.so");
    Catalog catalog;
    CHECK(catalog.load_file(folder.path() / "values.soma.so")->path == fs::canonical(target));
}

TEST_CASE("a plugin that was replaced on disk is not taken for the one in use") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "plugin.soma.so";
    fs::copy_file(plugin_file("twice_a"), path);
    {
        Catalog catalog;
        catalog.load_file(path);
        fs::copy_file(plugin_file("values"), folder.path() / "new");
        fs::rename(folder.path() / "new", path);
        CHECK(refusal(path) == "another plugin that was loaded from this path is still in use; drop it first, or start "
                               "the program anew");
        // What is in use is compared as it was when it was loaded.
        CHECK(catalog.load_file(plugin_file("twice_a")) == catalog.plugins().front());
    }
    Catalog catalog;
    CHECK(catalog.load_file(path)->name == "values");
}

TEST_CASE("a type that two plugins give refuses the whole second file naming both") {
    const TemporaryFolder folder;
    fs::copy_file(plugin_file("twice_a"), folder.path() / "1.soma.so");
    fs::copy_file(plugin_file("twice_b"), folder.path() / "2.soma.so");
    Catalog catalog;
    catalog.load_directory(folder.path());
    CHECK(catalog.types() == std::vector<std::string>{"twice.a_alone", "twice.node"});
    CHECK(catalog.get("twice.node")->version == 1);
    REQUIRE(catalog.refusals().size() == 1);
    const Refusal& refused = catalog.refusals().front();
    CHECK(refused.path == folder.path() / "2.soma.so");
    const std::string why = "node type `twice.node` is given by plugin `twice_a` (`" +
                            fs::canonical(folder.path() / "1.soma.so").string() +
                            "`) already, so that all of this plugin is left out; remove one of the two";
    CHECK(refused.reason == why);
    CHECK(catalog.refused_provider("twice.b_alone") == &refused);
    CHECK(catalog.refused_provider("twice.c_alone") == nullptr);
    try {
        static_cast<void>(catalog.get("twice.b_alone"));
        FAIL("there is such a type");
    } catch (const GraphError& error) {
        CHECK(error.what() == "there is no node type `twice.b_alone`; `" + refused.path.string() +
                                  "` would have given it but was refused: " + why);
    }
}

TEST_CASE("a refused file that cannot be asked is known by the types it mentions") {
    const TemporaryFolder folder;
    std::string bytes = read_file(plugin_file("values"));
    bytes[18] = 22;
    write_file(folder.path() / "foreign.soma.so", bytes);
    Catalog catalog;
    catalog.load_directory(folder.path());
    REQUIRE(catalog.refusals().size() == 1);
    CHECK(catalog.refused_provider("values.deep") == &catalog.refusals().front());
    CHECK(catalog.refused_provider("values.dee") == nullptr);
    CHECK(catalog.refused_provider("alues.deep") == nullptr);
    CHECK(catalog.refused_provider("") == nullptr);
}

TEST_CASE("one bad file keeps no good one from loading and a directory that cannot be read is told") {
    const TemporaryFolder folder;
    write_file(folder.path() / "a.soma.so", "not a plugin");
    REQUIRE(mkfifo((folder.path() / "b.soma.so").c_str(), 0600) == 0);
    fs::copy_file(plugin_file("values"), folder.path() / "c.soma.so");
    fs::create_directory(folder.path() / "d.soma.so");
    Catalog catalog;
    catalog.load_directory(folder.path());
    CHECK(catalog.plugins().size() == 1);
    REQUIRE(catalog.refusals().size() == 3);
    CHECK(catalog.refusals()[0].path.filename() == "a.soma.so");
    CHECK(catalog.refusals()[2].path.filename() == "d.soma.so");
    try {
        catalog.load_directory(folder.path() / "none");
        FAIL("there is such a directory");
    } catch (const PluginError& error) {
        CHECK(error.what() ==
              "plugin directory `" + (folder.path() / "none").string() + "` cannot be read: No such file or directory");
    }
}

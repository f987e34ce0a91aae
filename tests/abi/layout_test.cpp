// SPDX-License-Identifier: Apache-2.0
// The interface's layout against every record of a release, and that no change of it goes unnoticed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "layout/record.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace soma::layout;
using soma::test::source_dir;
using soma::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

const fs::path headers = source_dir() / "abi" / "include";

std::string clang() {
    const std::string program = SOMA_CLANG;
    if (program.empty()) soma_skip("clang, which shows the layout, is missing; `sh cmake/setup.sh` installs it");
    return program;
}

Record today() { return from_headers(clang(), headers); }

std::string read(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    REQUIRE(in.good());
    return text.str();
}

void replace(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read(file);
    const std::size_t at = text.find(from);
    INFO("`" << from << "` in " << file);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(file) << text;
}

// A copy of the headers to change. What is asserted in them does not count: whoever changes a struct by mistake may change
// that along with it.
class Copy {
public:
    explicit Copy(bool asserts = false) {
        fs::copy(headers, folder_.path(), fs::copy_options::recursive);
        if (!asserts) change("abi/base.h", "_Static_assert(condition, text)", "_Static_assert(1, text)");
    }

    [[nodiscard]] fs::path file(const std::string& name) const { return folder_.path() / "soma" / name; }

    Copy& change(const std::string& name, const std::string& from, const std::string& to) {
        replace(file(name), from, to);
        return *this;
    }
    Copy& raise_minor() { return change("abi/base.h", "#define SOMA_ABI_MINOR 0u", "#define SOMA_ABI_MINOR 1u"); }
    [[nodiscard]] Record record() const { return from_headers(clang(), folder_.path()); }

private:
    TemporaryFolder folder_;
};

Record released() { return from_file(source_dir() / "abi" / "layout" / "1.0-lp64.txt"); }

using Lines = std::vector<std::string>;

Lines told(const Copy& copy) { return breaks(released(), copy.record()); }

bool has(const Lines& lines, const std::string& line) {
    std::string all;
    for (const std::string& each : lines) all += "\n" + each;
    UNSCOPED_INFO("among" << all << "\nthere should be\n" << line);
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

} // namespace

TEST_CASE("the interface is every release that was recorded or an append to it") {
    const Record now = today();
    unsigned records = 0;
    for (const auto& entry : fs::directory_iterator(source_dir() / "abi" / "layout")) {
        if (entry.path().extension() != ".txt") continue;
        ++records;
        const Record was = from_file(entry.path());
        CAPTURE(entry.path());
        CHECK(entry.path().filename() == std::to_string(was.major) + "." + std::to_string(was.minor) + "-lp64.txt");
        CHECK(breaks(was, now) == Lines{});
        // A record that lost something would find nothing to compare.
        CHECK(was.structs.contains("soma_entry"));
        CHECK(was.constants.contains("SOMA_PLUGIN_MAGIC"));
        CHECK(was.constants.contains("SOMA_EXT_TORCH"));
    }
    CHECK(records > 0);
    CHECK(released().structs.size() == 22);
    CHECK(released().constants.size() == 53);
}

TEST_CASE("every struct and field of the headers is in the layout that is read and is pinned beside it") {
    const Record now = today();
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(headers)) {
        if (entry.is_regular_file()) text += read(entry.path());
    }
    std::size_t structs = 0;
    for (std::size_t at = 0; (at = text.find("\ntypedef struct ", at)) != std::string::npos; ++at) {
        const std::size_t name = at + 16;
        const std::size_t end = text.find_first_of(" ;", name);
        if (text.compare(end, 2, " {") != 0) continue;
        ++structs;
        CHECK(now.structs.contains(text.substr(name, end - name)));
    }
    CHECK(structs == now.structs.size());
    std::size_t unpinned = 0;
    for (const auto& [name, is] : now.structs) {
        CHECK(text.find(name == "soma_torch"
                            ? "sizeof(soma_torch) == " + std::to_string(is.size)
                            : "SOMA_SIZE(" + name + ", " + std::to_string(is.size) + ");") != std::string::npos);
        for (const Field& field : is.fields) {
            const std::string offset = std::to_string(field.offset);
            if (text.find("SOMA_AT(" + name + ", " + field.name + ", " + offset + ");") == std::string::npos &&
                text.find("offsetof(" + name + ", " + field.name + ") == " + offset) == std::string::npos) {
                ++unpinned;
            }
        }
    }
    CHECK(unpinned == 0);
}

TEST_CASE("a record is read as it was written and one that is damaged is refused by its line") {
    const Record now = today();
    CHECK(breaks(from_text(to_text(now)), now) == Lines{});
    CHECK(to_text(from_text(to_text(now))) == to_text(now));
    const auto refused = [](const char* text) -> std::string {
        try {
            static_cast<void>(from_text(text));
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refused("version 1.0\n  0 int x\n") == "line 2: a field stands before any struct");
    CHECK(refused("version 1.0\nstruct soma_x big align 8\n") == "line 2: `big` is no number");
    CHECK(refused("version 1.0\nstruct soma_x 8\n") == "line 2: a struct needs name, size and `align`");
    CHECK(refused("version 1.0\nstruct soma_x 8 align 8\n  0 int\n") == "line 3: a field needs offset, type and name");
    CHECK(refused("version 1.0\nunion soma_x 8\n") == "line 2: `union` is not `version`, `struct` or `constant`");
    CHECK(refused("version one\n") == "line 1: `one` is no number");
    CHECK(refused("version 1.0\n") == "the record has no struct");
    CHECK(refused("struct soma_x 8 align 8\n") == "the record has no version");
}

TEST_CASE("fields that changed places are told") {
    const Lines lines = told(Copy()
                                 .change("abi/context.h", "uint64_t run_id;", "uint64_t x;")
                                 .change("abi/context.h", "uint64_t seed;", "uint64_t run_id;")
                                 .change("abi/context.h", "uint64_t x;", "uint64_t seed;"));
    CHECK(lines.size() == 2);
    CHECK(has(lines, "struct soma_ctx, field run_id: was uint64_t at 48, is uint64_t at 56"));
    CHECK(has(lines, "struct soma_ctx, field seed: was uint64_t at 56, is uint64_t at 48"));
}

TEST_CASE("slots that changed places are told") {
    // Both have one type, so that nothing but the names tells them apart.
    const Lines lines =
        told(Copy()
                 .change("abi/host.h", "soma_string(SOMA_CALL* status_message)", "soma_string(SOMA_CALL* x)")
                 .change("abi/host.h", "(SOMA_CALL* status_origin)", "(SOMA_CALL* status_message)")
                 .change("abi/host.h", "(SOMA_CALL* x)", "(SOMA_CALL* status_origin)"));
    CHECK(lines.size() == 2);
    CHECK(has(lines, "struct soma_api, field status_message: was soma_string (*)(soma_host *, const soma_status *) at "
                     "64, is soma_string (*)(soma_host *, const soma_status *) at 72"));
}

TEST_CASE("a field of another type is told") {
    const Lines narrow = told(Copy().change("abi/context.h", "uint64_t run_id;", "int64_t run_id;"));
    CHECK(narrow == Lines{"struct soma_ctx, field run_id: was uint64_t at 48, is int64_t at 48"});
    const Lines slot =
        told(Copy().change("abi/host.h", "(SOMA_CALL* value_kind)(soma_host* host, const soma_value* value)",
                           "(SOMA_CALL* value_kind)(soma_host* host, soma_value* value)"));
    CHECK(slot ==
          Lines{"struct soma_api, field value_kind: was uint32_t (*)(soma_host *, const soma_value *) at 112, is "
                "uint32_t (*)(soma_host *, soma_value *) at 112"});
    const Lines torch = told(Copy().change("ext/torch.h", "const void** tensor)", "void** tensor)"));
    CHECK(torch == Lines{"struct soma_torch, field tensor_get: was soma_status *(*)(soma_host *, const soma_value *, "
                         "const void **) at 16, is soma_status *(*)(soma_host *, const soma_value *, void **) at 16"});
}

TEST_CASE("a field inserted in the middle is told and does not even compile") {
    const std::string before = "void* stream;";
    Copy copy;
    copy.change("abi/context.h", before, "uint64_t extra;\n    " + before);
    const Lines lines = told(copy);
    CHECK(has(lines, "struct soma_ctx, field extra: was not there, is uint64_t at 40, within the 72 bytes that were "
                     "released"));
    CHECK(has(lines, "struct soma_ctx, field stream: was void * at 40, is void * at 48"));
    // A raised minor does not make it an append.
    CHECK_FALSE(told(copy.raise_minor()).empty());

    Copy asserting(true);
    asserting.change("abi/context.h", before, "uint64_t extra;\n    " + before);
    try {
        static_cast<void>(asserting.record());
        FAIL("it compiled");
    } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("soma_ctx.stream has moved") != std::string::npos);
    }
}

TEST_CASE("a field that is gone is told with what is in its place") {
    const Lines gone = told(Copy().change("abi/context.h", "uint64_t seed;", ""));
    CHECK(has(gone, "struct soma_ctx, field seed: was uint64_t at 56, is gone, and there is uint32_t at 56 named "
                    "training"));
    CHECK(has(gone, "struct soma_ctx: was 72 bytes, is 64"));
}

TEST_CASE("a field of another name is told") {
    const Lines lines = told(Copy().change("abi/context.h", "uint64_t run_id;", "uint64_t run_number;"));
    CHECK(has(lines, "struct soma_ctx, field run_id: was uint64_t at 48, is gone, and there is uint64_t at 48 named "
                     "run_number"));
}

TEST_CASE("a struct that is gone is told") {
    const Lines lines =
        told(Copy().change("abi/entry.h", "typedef struct soma_feature_name {", "typedef struct soma_feature {"));
    CHECK(has(lines, "struct soma_feature_name: was 24 bytes, is gone"));
}

TEST_CASE("a constant of another value is told and so is one that is gone") {
    CHECK(told(Copy().change("abi/status.h", "#define SOMA_WRONG_DEVICE 11u", "#define SOMA_WRONG_DEVICE 12u")) ==
          Lines{"constant SOMA_WRONG_DEVICE: was 11u, is 12u"});
    CHECK(
        told(Copy().change("abi/base.h", "#define SOMA_DEVICE_META 3 ", "#define SOMA_DEVICE_FAKE 3 ").raise_minor()) ==
        Lines{"constant SOMA_DEVICE_META: was 3, is gone"});
    CHECK(told(Copy().change("ext/torch.h", "\"soma.torch/1\"", "\"soma.torch/2\"")) ==
          Lines{"constant SOMA_EXT_TORCH: was \"soma.torch/1\", is \"soma.torch/2\""});
    CHECK(told(Copy().change("abi/node.h", "#define SOMA_NODE_RANDOM 8ull", "#define SOMA_NODE_RANDOM 16ull")).size() ==
          1);
}

TEST_CASE("a struct that is passed by value may not grow whatever the minor") {
    const Lines string =
        told(Copy().change("abi/base.h", "} soma_string;", "    uint64_t hash;\n} soma_string;").raise_minor());
    CHECK(has(string, "struct soma_string, field hash: was not there, is uint64_t at 16, but a struct without "
                      "struct_size is passed by value and cannot grow"));
    CHECK(has(string, "struct soma_string: was 16 bytes, is 24"));
    // What holds it moved as well.
    CHECK(has(string, "struct soma_ctx, field device: was const char * at 24, is const char * at 32"));
    const Lines place =
        told(Copy().change("abi/base.h", "} soma_place;", "    int64_t node;\n} soma_place;").raise_minor());
    CHECK(has(place, "struct soma_place: was aligned to 4, is 8"));
    for (const std::string name :
         {"soma_dl_device", "soma_dl_datatype", "soma_dl_tensor", "soma_dl_version", "soma_dl_managed"}) {
        const Lines lines = told(
            Copy().change("abi/dlpack.h", "} " + name + ";", "    uint64_t extra;\n} " + name + ";").raise_minor());
        CAPTURE(name);
        CHECK(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.starts_with("struct " + name + ", field extra: was not there, is uint64_t at ");
        }));
    }
}

TEST_CASE("what is appended needs a raised minor and then is all right") {
    Copy copy;
    copy.change("abi/context.h", "} soma_ctx;", "    uint64_t later;\n} soma_ctx;");
    CHECK(told(copy) == Lines{"struct soma_ctx, field later: was not there, is uint64_t at 72, and SOMA_ABI_MINOR is "
                              "still 0: raise it with what is appended"});
    CHECK(told(copy.raise_minor()) == Lines{});
    copy.change("abi/host.h", "} soma_api;", "    void(SOMA_CALL* later)(soma_host* host);\n} soma_api;");
    copy.change("abi/entry.h", "} soma_entry;", "    const void* later;\n} soma_entry;");
    copy.change("abi/status.h", "#define SOMA_UNAVAILABLE 14u", "#define SOMA_LATER 15u\n#define SOMA_UNAVAILABLE 14u");
    copy.change("abi/value.h", "} soma_opaque_type;",
                "} soma_opaque_type;\ntypedef struct soma_later {\n    uint32_t struct_size;\n} soma_later;");
    CHECK(told(copy) == Lines{});
    copy.change("abi/base.h", "#define SOMA_ABI_MINOR 1u", "#define SOMA_ABI_MINOR 0u");
    const Lines lines = told(copy);
    CHECK(lines.size() == 5);
    CHECK(has(lines,
              "struct soma_later: was not there, is 4 bytes, and SOMA_ABI_MINOR is still 0: raise it with what is "
              "appended"));
    CHECK(has(lines, "constant SOMA_LATER: was not there, is 15u, and SOMA_ABI_MINOR is still 0: raise it with what is "
                     "appended"));
}

TEST_CASE("a field in the padding at a struct's end is no append") {
    // As a release with such padding would have it.
    Record was = today();
    Struct& ctx = was.structs.at("soma_ctx");
    ctx.fields.pop_back();
    Record now = today();
    ++now.minor;
    CHECK(breaks(was, now) == Lines{"struct soma_ctx, field reserved: was not there, is uint32_t at 68, within the 72 "
                                    "bytes that were released"});
}

TEST_CASE("an older minor than was released and a struct of another size are told") {
    Record was = today();
    was.minor = 3;
    was.structs.at("soma_ctx").size = 64;
    was.structs.at("soma_ctx").fields.resize(8);
    Record now = today();
    now.structs.at("soma_ctx").fields.resize(8);
    const Lines lines = breaks(was, now);
    CHECK(has(lines, "version: was 1.3, is 1.0"));
    CHECK(has(lines, "struct soma_ctx: was 64 bytes, is 72"));
}

TEST_CASE("of another major only the head of the entry is held to what it was") {
    Copy copy;
    copy.change("abi/base.h", "#define SOMA_ABI_MAJOR 1u", "#define SOMA_ABI_MAJOR 2u");
    copy.change("abi/context.h", "uint64_t seed;", "");
    copy.change("abi/entry.h", "const soma_plugin_info* info;", "");
    CHECK(told(copy) == Lines{});
    copy.change("abi/entry.h", "uint32_t built_minor;", "uint64_t built_minor;");
    const Lines lines = told(copy);
    CHECK(has(lines, "struct soma_entry, field built_minor: was uint32_t at 20, is uint64_t at 24"));
    CHECK(has(lines, "struct soma_entry, field required_features: was uint64_t at 24, is uint64_t at 32"));
    copy.change("abi/entry.h", "{ 0x53,", "{ 0x54,");
    CHECK(told(copy).size() == 3);
}

// SPDX-License-Identifier: Apache-2.0
#include "plugin/elf.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include <fmt/format.h>

#include "core/quote.h"
#include "plugin/structs.h"
#include "soma/error.h"

namespace soma::detail {

namespace {

constexpr std::string_view entry_name = "soma_plugin_entry";

#if defined(__x86_64__)
constexpr std::uint16_t this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t this_machine = EM_AARCH64;
#elif defined(__riscv)
constexpr std::uint16_t this_machine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr std::uint16_t this_machine = EM_PPC64;
#elif defined(__loongarch__)
constexpr std::uint16_t this_machine = 258;
#else
#error "say here which ELF machine this is"
#endif

std::string machine_name(std::uint16_t machine) {
    switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "32-bit x86";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "32-bit Arm";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "POWER";
    case EM_S390: return "IBM Z";
    case EM_MIPS: return "MIPS";
    case 258: return "LoongArch";
    default: return fmt::format("ELF machine {}", machine);
    }
}

[[noreturn]] void malformed(std::string_view what) {
    throw PluginError(fmt::format("it is not a sound ELF file: {}; copy or build it again", what));
}

[[noreturn]] void cut_short(std::string_view what, std::uint64_t end, std::uint64_t size) {
    throw PluginError(
        fmt::format("it is cut short: {} ends at byte {}, the file at {}; copy or build it again", what, end, size));
}

// Whether [offset, offset + count * each) lies within the file; the end is where it would be.
bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t size,
          std::uint64_t& end) noexcept {
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes) || __builtin_add_overflow(offset, bytes, &end)) {
        end = UINT64_MAX;
        return false;
    }
    return end <= size;
}

Elf64_Ehdr read_header(const PluginFile& file) {
    Elf64_Ehdr header{};
    if (!file.read(0, {reinterpret_cast<char*>(&header), sizeof header})) malformed("its header cannot be read");
    const unsigned char* ident = header.e_ident;
    if (std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
        const std::string_view first{reinterpret_cast<const char*>(ident), EI_NIDENT};
        throw PluginError(
            fmt::format("expected a shared library (an ELF file), got a file that begins with {}", quoted(first)));
    }
    if (ident[EI_CLASS] != ELFCLASS64)
        throw PluginError("expected a 64-bit library, got one that is not; build it for 64 bits");
    if (ident[EI_DATA] != ELFDATA2LSB) throw PluginError("expected a little-endian library, got a big-endian one");
    if (header.e_machine != this_machine) {
        throw PluginError(
            fmt::format("expected a library for {}, got one for {}; get the plugin built for this machine",
                        machine_name(this_machine), machine_name(header.e_machine)));
    }
    if (header.e_type != ET_DYN) {
        throw PluginError(fmt::format("expected a shared library, got {}; link it with -shared",
                                      header.e_type == ET_REL    ? "an object file"
                                      : header.e_type == ET_EXEC ? "a program"
                                      : header.e_type == ET_CORE ? "a core dump"
                                                                 : fmt::format("ELF type {}", header.e_type)));
    }
    return header;
}

// The table of segments, each within the file: mapping one that is not would end the program with SIGBUS.
std::vector<Elf64_Phdr> read_segments(const PluginFile& file, const Elf64_Ehdr& header) {
    std::uint64_t end = 0;
    if (header.e_phnum == 0) malformed("it has no segments");
    if (header.e_phentsize != sizeof(Elf64_Phdr)) malformed("its segments have a wrong size");
    if (!fits(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), file.size(), end)) {
        cut_short("its table of segments", end, file.size());
    }
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    if (!file.read(header.e_phoff, {reinterpret_cast<char*>(segments.data()), segments.size() * sizeof(Elf64_Phdr)})) {
        malformed("its segments cannot be read");
    }
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_LOAD) continue;
        if (!fits(segment.p_offset, segment.p_filesz, 1, file.size(), end)) cut_short("a segment", end, file.size());
        if (segment.p_filesz > segment.p_memsz || segment.p_vaddr + segment.p_memsz < segment.p_vaddr) {
            malformed("a segment has a wrong size");
        }
    }
    return segments;
}

void check_sections(const PluginFile& file, const Elf64_Ehdr& header) {
    std::uint64_t end = 0;
    if (header.e_shnum == 0) {
        throw PluginError(
            "it has no table of sections, in which its symbols are found; strip it with `strip`, which keeps "
            "that table");
    }
    if (header.e_shentsize != sizeof(Elf64_Shdr)) malformed("its sections have a wrong size");
    if (!fits(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr), file.size(), end)) {
        cut_short("its table of sections", end, file.size());
    }
}

struct EndElf {
    void operator()(Elf* elf) const noexcept { elf_end(elf); }
};
using ElfPointer = std::unique_ptr<Elf, EndElf>;

// Contents of a section that lies within the file, or null.
Elf_Data* data_of(Elf_Scn* section, const GElf_Shdr& header, const PluginFile& file) {
    std::uint64_t end = 0;
    if (header.sh_type == SHT_NOBITS || !fits(header.sh_offset, header.sh_size, 1, file.size(), end)) return nullptr;
    return elf_getdata(section, nullptr);
}

std::optional<std::string> fingerprint_in(Elf_Data* data) {
    if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
    constexpr std::string_view owner = "soma";
    constexpr std::size_t longest = 4096;
    GElf_Nhdr note{};
    std::size_t name_at = 0;
    std::size_t text_at = 0;
    const auto* bytes = static_cast<const char*>(data->d_buf);
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name_at, &text_at)) > 0;) {
        // Sizes are the file's own words: what libelf found is within the section, and so must these be.
        if (name_at > data->d_size || note.n_namesz > data->d_size - name_at) break;
        if (text_at > data->d_size || note.n_descsz > data->d_size - text_at) break;
        std::string_view name{bytes + name_at, note.n_namesz};
        std::string_view text{bytes + text_at, note.n_descsz};
        while (name.ends_with('\0')) name.remove_suffix(1);
        while (text.ends_with('\0')) text.remove_suffix(1);
        if (name == owner && note.n_type == 1 && text.size() <= longest) return std::string(text);
    }
    return std::nullopt;
}

std::optional<GElf_Sym> find_entry(Elf* elf, const GElf_Shdr& header, Elf_Data* data) {
    if (data == nullptr || data->d_buf == nullptr || header.sh_entsize != sizeof(Elf64_Sym)) return std::nullopt;
    const std::size_t count = data->d_size / sizeof(Elf64_Sym);
    for (std::size_t i = 1; i < count && i <= INT32_MAX; ++i) {
        GElf_Sym symbol{};
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
        const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name != nullptr && name == entry_name) return symbol;
    }
    return std::nullopt;
}

void check_symbol(const GElf_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF) {
        throw PluginError(fmt::format("it uses `{}` but does not define it", entry_name));
    }
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_OBJECT) {
        throw PluginError(fmt::format("expected `{}` to be an object, got {}", entry_name,
                                      type == STT_FUNC  ? "a function"
                                      : type == STT_TLS ? "a thread-local variable"
                                                        : fmt::format("a symbol of type {}", type)));
    }
    if (symbol.st_size < least_entry || symbol.st_size > most_bytes_of_struct) {
        throw PluginError(fmt::format("expected `{}` to have {} to {} bytes, got {}; define it as a soma_entry",
                                      entry_name, least_entry, most_bytes_of_struct, symbol.st_size));
    }
}

void read_entry(const PluginFile& file, const std::vector<Elf64_Phdr>& segments, const GElf_Sym& symbol,
                ElfFacts& facts) {
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_LOAD || symbol.st_value < segment.p_vaddr) continue;
        const std::uint64_t at = symbol.st_value - segment.p_vaddr;
        if (at > segment.p_filesz || symbol.st_size > segment.p_filesz - at) continue;
        if (symbol.st_value % alignof(soma_entry) != 0) malformed("its entry does not lie at a multiple of 8");
        if (!file.read(segment.p_offset + at, facts.entry)) malformed("its entry cannot be read");
        facts.entry_address = symbol.st_value;
        facts.entry_size = static_cast<std::size_t>(symbol.st_size);
        return;
    }
    malformed(fmt::format("`{}` lies outside what is loaded", entry_name));
}

} // namespace

ElfFacts inspect_elf(const PluginFile& file) {
    const Elf64_Ehdr header = read_header(file);
    const std::vector<Elf64_Phdr> segments = read_segments(file, header);
    check_sections(file, header);

    elf_version(EV_CURRENT);
    const ElfPointer elf(elf_begin(file.descriptor(), ELF_C_READ, nullptr));
    if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) malformed(elf_errmsg(-1));
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf.get(), &names) != 0) malformed(elf_errmsg(-1));

    ElfFacts facts;
    std::optional<GElf_Sym> entry;
    bool has_symbols = false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
        GElf_Shdr section_header{};
        if (gelf_getshdr(section, &section_header) == nullptr) malformed(elf_errmsg(-1));
        if (section_header.sh_type == SHT_DYNSYM && !has_symbols) {
            has_symbols = true;
            entry = find_entry(elf.get(), section_header, data_of(section, section_header, file));
        } else if (section_header.sh_type == SHT_NOTE && !facts.fingerprint) {
            const char* name = elf_strptr(elf.get(), names, section_header.sh_name);
            if (name == nullptr || std::string_view(name) != ".note.soma") continue;
            facts.fingerprint = fingerprint_in(data_of(section, section_header, file));
        }
    }
    if (!entry) {
        throw PluginError(
            fmt::format("it is a shared library but no plugin: it does not export `{}`; define it, and export "
                        "it by the linker's version script",
                        entry_name));
    }
    check_symbol(*entry);
    read_entry(file, segments, *entry, facts);
    return facts;
}

} // namespace soma::detail

// SPDX-License-Identifier: Apache-2.0
#include "plugin/elf.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <elf.h>

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

std::vector<Elf64_Shdr> read_sections(const PluginFile& file, const Elf64_Ehdr& header) {
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
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    if (!file.read(header.e_shoff, {reinterpret_cast<char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr)})) {
        malformed("its sections cannot be read");
    }
    return sections;
}

// Contents of a section; empty when there is none of that number, or it does not lie within the file.
std::string contents(const PluginFile& file, const std::vector<Elf64_Shdr>& sections, std::size_t number) {
    // No table of symbols, names or notes comes near this.
    constexpr std::uint64_t longest = std::uint64_t{256} << 20;
    if (number == SHN_UNDEF || number >= sections.size()) return {};
    const Elf64_Shdr& section = sections[number];
    std::uint64_t end = 0;
    if (section.sh_type == SHT_NOBITS || section.sh_size > longest) return {};
    if (!fits(section.sh_offset, section.sh_size, 1, file.size(), end)) return {};
    std::string bytes(section.sh_size, '\0');
    if (!file.read(section.sh_offset, bytes)) return {};
    return bytes;
}

// The text at an offset of a section of texts; empty when it does not end there.
std::string_view text_at(std::string_view texts, std::uint64_t offset) {
    if (offset >= texts.size()) return {};
    const std::string_view rest = texts.substr(offset);
    return rest.substr(0, rest.find('\0') == std::string_view::npos ? 0 : rest.find('\0'));
}

// Notes: a header, then the owner's name and the text, each filled up to a multiple of 4.
std::optional<std::string> fingerprint_in(std::string_view notes) {
    constexpr std::string_view owner = "soma";
    constexpr std::size_t longest = 4096;
    const auto filled_up = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
    Elf64_Nhdr note{};
    while (notes.size() >= sizeof note) {
        std::memcpy(&note, notes.data(), sizeof note);
        notes.remove_prefix(sizeof note);
        // Sizes are the file's own words.
        const std::uint64_t text_begins = filled_up(note.n_namesz);
        if (text_begins > notes.size() || note.n_descsz > notes.size() - text_begins) break;
        std::string_view name = notes.substr(0, note.n_namesz);
        std::string_view text = notes.substr(text_begins, note.n_descsz);
        while (name.ends_with('\0')) name.remove_suffix(1);
        while (text.ends_with('\0')) text.remove_suffix(1);
        if (name == owner && note.n_type == 1 && text.size() <= longest) return std::string(text);
        notes.remove_prefix(std::min<std::uint64_t>(text_begins + filled_up(note.n_descsz), notes.size()));
    }
    return std::nullopt;
}

std::optional<Elf64_Sym> find_entry(std::string_view symbols, std::string_view texts) {
    Elf64_Sym symbol{};
    for (std::size_t at = sizeof symbol; at + sizeof symbol <= symbols.size(); at += sizeof symbol) {
        std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
        if (text_at(texts, symbol.st_name) == entry_name) return symbol;
    }
    return std::nullopt;
}

void check_symbol(const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF) {
        throw PluginError(fmt::format("it uses `{}` but does not define it", entry_name));
    }
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
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

void read_entry(const PluginFile& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Sym& symbol,
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
    const std::vector<Elf64_Shdr> sections = read_sections(file, header);

    ElfFacts facts;
    std::optional<Elf64_Sym> entry;
    std::optional<std::string> names; // of sections, once asked for
    bool has_symbols = false;
    for (std::size_t i = 1; i < sections.size(); ++i) {
        const Elf64_Shdr& section = sections[i];
        if (section.sh_type == SHT_DYNSYM && !has_symbols) {
            has_symbols = true;
            if (section.sh_entsize != sizeof(Elf64_Sym)) continue;
            entry = find_entry(contents(file, sections, i), contents(file, sections, section.sh_link));
        } else if (section.sh_type == SHT_NOTE && !facts.fingerprint) {
            if (!names) names = contents(file, sections, header.e_shstrndx);
            if (text_at(*names, section.sh_name) != ".note.soma") continue;
            facts.fingerprint = fingerprint_in(contents(file, sections, i));
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

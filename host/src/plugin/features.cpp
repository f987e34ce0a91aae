// SPDX-License-Identifier: Apache-2.0
// Follows the pointers of a plugin's data in its file, as the loader will once it is loaded.
#include "plugin/features.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <elf.h>

#include "core/utf8.h"
#include "plugin/structs.h"

namespace soma::detail {

namespace {

// More than any plugin has; a file that says otherwise is not worth the time.
constexpr std::uint64_t most_relocations = std::uint64_t{1} << 20;
constexpr std::uint64_t longest_name = 256;

template <class Object>
bool read_object(const PluginFile& file, std::uint64_t offset, Object& object) {
    return file.read(offset, {reinterpret_cast<char*>(&object), sizeof object});
}

template <class Object>
std::vector<Object> read_table(const PluginFile& file, std::uint64_t offset, std::uint64_t count) {
    std::vector<Object> table;
    if (count > file.size() / sizeof(Object)) return table;
    table.resize(static_cast<std::size_t>(count));
    if (!file.read(offset, {reinterpret_cast<char*>(table.data()), table.size() * sizeof(Object)})) table.clear();
    return table;
}

// The file by the addresses that its contents will have.
class Image {
public:
    explicit Image(const PluginFile& file) : file_(file) {
        Elf64_Ehdr header{};
        if (!read_object(file, 0, header)) return;
        segments_ = read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum);
        std::uint64_t at = 0;
        std::uint64_t bytes = 0;
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_DYNAMIC) continue;
            for (const auto& entry :
                 read_table<Elf64_Dyn>(file, segment.p_offset, segment.p_filesz / sizeof(Elf64_Dyn))) {
                if (entry.d_tag == DT_NULL) break;
                if (entry.d_tag == DT_RELA) at = entry.d_un.d_ptr;
                if (entry.d_tag == DT_RELASZ) bytes = entry.d_un.d_val;
            }
        }
        const std::uint64_t count = std::min(bytes / sizeof(Elf64_Rela), most_relocations);
        std::uint64_t offset = 0;
        if (find(at, count * sizeof(Elf64_Rela), offset)) relocations_ = read_table<Elf64_Rela>(file, offset, count);
    }

    template <class Object>
    bool read(std::uint64_t address, Object& object) const {
        std::uint64_t offset = 0;
        return find(address, sizeof object, offset) && read_object(file_, offset, object);
    }

    bool read_text(std::uint64_t address, std::string& text) const {
        std::uint64_t offset = 0;
        return find(address, text.size(), offset) && file_.read(offset, text);
    }

    // What the pointer at `address` will point to; 0 for NULL, and for what only the loader can know.
    [[nodiscard]] std::uint64_t pointer(std::uint64_t address) const {
        for (const Elf64_Rela& relocation : relocations_) {
            if (relocation.r_offset != address) continue;
            return ELF64_R_SYM(relocation.r_info) == 0 ? static_cast<std::uint64_t>(relocation.r_addend) : 0;
        }
        // Packed relocations leave the address in place.
        std::uint64_t there = 0;
        return read(address, there) ? there : 0;
    }

private:
    bool find(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const {
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
            const std::uint64_t at = address - segment.p_vaddr;
            if (at > segment.p_filesz || bytes > segment.p_filesz - at) continue;
            return !__builtin_add_overflow(segment.p_offset, at, &offset);
        }
        return false;
    }

    const PluginFile& file_;
    std::vector<Elf64_Phdr> segments_;
    std::vector<Elf64_Rela> relocations_;
};

} // namespace

std::string feature_name_in(const PluginFile& file, const ElfFacts& facts, unsigned bit) {
    const Image image(file);
    const std::uint64_t info = image.pointer(facts.entry_address + offsetof(soma_entry, info));
    std::array<std::uint32_t, 2> sizes{}; // struct_size, feature_name_count
    std::uint32_t stride = 0;
    constexpr std::uint64_t stride_at = offsetof(soma_plugin_info, feature_name_stride);
    if (info == 0 || !image.read(info, sizes) || sizes[0] < stride_at + sizeof stride) return {};
    if (!image.read(info + stride_at, stride) || stride < least_feature_name) return {};
    const std::uint64_t names = image.pointer(info + offsetof(soma_plugin_info, feature_names));
    if (names == 0) return {};
    // There are no more bits than this to name.
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(sizes[1], 64); ++i) {
        const std::uint64_t at = names + i * stride;
        std::uint32_t named = 0;
        std::uint64_t length = 0;
        const std::uint64_t name = at + offsetof(soma_feature_name, name);
        if (!image.read(at + offsetof(soma_feature_name, bit), named) || named != bit) continue;
        if (!image.read(name + offsetof(soma_string, size), length) || length > longest_name) return {};
        std::string text(static_cast<std::size_t>(length), '\0');
        if (!image.read_text(image.pointer(name + offsetof(soma_string, data)), text) || !is_utf8(text)) return {};
        return text;
    }
    return {};
}

} // namespace soma::detail

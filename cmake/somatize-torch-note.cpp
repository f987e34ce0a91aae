// SPDX-License-Identifier: Apache-2.0
// Compiled into every plugin that links libtorch: says in an ELF note which libtorch that is, for the host to read before
// it loads the plugin. The text is what soma/ext/torch.h calls the fingerprint.
#include <cstdint>

#include <torch/version.h>

#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0
#define SOMA_NOTE_TEXT "libtorch=" TORCH_VERSION ";cxx11abi=0"
#else
#define SOMA_NOTE_TEXT "libtorch=" TORCH_VERSION ";cxx11abi=1"
#endif

namespace {

struct Note {
    std::uint32_t name_size;
    std::uint32_t text_size;
    std::uint32_t type;
    char name[8];
    char text[(sizeof SOMA_NOTE_TEXT + 3) / 4 * 4];
};

__attribute__((section(".note.soma"), used, aligned(4)))
const Note note = {sizeof "soma", sizeof SOMA_NOTE_TEXT, 1, "soma", SOMA_NOTE_TEXT};

} // namespace

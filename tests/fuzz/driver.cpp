// SPDX-License-Identifier: Apache-2.0
//
//   fuzz_X [COUNT [SEED]]    tries that many damaged seeds (200000), the same ones for the same SEED (1)
//   fuzz_X FILE...           tries files, to see again what was found
//
// An input that breaks a promise is left in fuzz_X.input in the current directory. Built with SOMATIZE_FUZZ, by clang, the
// targets are libFuzzer's instead, which learns from what it has covered: fuzz_X FOLDER.
#include <cstdint>

#include "fuzz/target.h"

#if defined(SOMA_LIBFUZZER)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    soma::test::try_input({reinterpret_cast<const char*>(data), size});
    return 0;
}

#else

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include <fcntl.h>
#include <unistd.h>

namespace {

class Damage {
public:
    explicit Damage(std::uint64_t seed) : random_(seed), seeds_(soma::test::seeds()), words_(soma::test::words()) {}

    std::string next() {
        std::string text = any(seeds_);
        for (std::size_t times = 1 + below(6); times > 0; --times) once(text);
        return text;
    }

private:
    void once(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t size = below(std::min<std::size_t>(text.size() - at, 24) + 1);
        switch (below(6)) {
        case 0: text.insert(at, any(words_)); break;
        case 1: text.erase(at, size); break;
        case 2: text.insert(below(text.size() + 1), text.substr(at, size)); break;
        case 3: text.replace(at, size, any(words_)); break;
        case 4: text.insert(at, any(seeds_)); break;
        default:
            if (at < text.size()) text[at] = static_cast<char>(below(256));
        }
    }

    std::size_t below(std::size_t end) { return random_() % end; }
    const std::string& any(const std::vector<std::string>& of) { return of[below(of.size())]; }

    std::mt19937_64 random_;
    std::vector<std::string> seeds_;
    std::vector<std::string> words_;
};

// What a signal handler may look at.
const std::string* trying = nullptr;
std::string kept_at;

void keep_input(int) {
    const int file = open(kept_at.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && trying != nullptr) static_cast<void>(!write(file, trying->data(), trying->size()));
    _exit(1);
}

void try_one(const std::string& input) {
    trying = &input;
    alarm(20); // as good as hanging
    soma::test::try_input(input);
    alarm(0);
}

} // namespace

int main(int argc, char** argv) {
    const std::string program = argv[0];
    kept_at = program.substr(program.rfind('/') + 1) + ".input";
    for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
        if (std::signal(fatal, keep_input) == SIG_ERR) return 2;
    }
    char* end = nullptr;
    const unsigned long count = argc > 1 ? std::strtoul(argv[1], &end, 10) : 200000;
    if (argc > 1 && *end != '\0') {
        for (int i = 1; i < argc; ++i) {
            std::ifstream file(argv[i], std::ios::binary);
            try_one({std::istreambuf_iterator<char>(file), {}});
        }
        return 0;
    }
    for (const std::string& seed : soma::test::seeds()) try_one(seed);
    Damage damage(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    for (unsigned long i = 0; i < count; ++i) try_one(damage.next());
    std::printf("%lu inputs\n", count);
    return 0;
}

#endif

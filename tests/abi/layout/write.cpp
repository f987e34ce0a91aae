// SPDX-License-Identifier: Apache-2.0
// abi_layout CLANG INCLUDE FOLDER: writes the record of the headers below INCLUDE into FOLDER, as MAJOR.MINOR-lp64.txt. One
// that is there already was released and is not written again.
#include <exception>
#include <fstream>
#include <iostream>

#include "layout/record.h"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: abi_layout CLANG INCLUDE FOLDER\n";
        return 2;
    }
    try {
        const soma::layout::Record record = soma::layout::from_headers(argv[1], argv[2]);
        const std::string name = std::to_string(record.major) + "." + std::to_string(record.minor) + "-lp64.txt";
        const std::filesystem::path file = std::filesystem::path(argv[3]) / name;
        if (std::filesystem::exists(file)) {
            std::cerr << "abi_layout: " << file.string() << " is there: this version was released, and its record is "
                      << "never written again; raise SOMA_ABI_MINOR for a new one\n";
            return 1;
        }
        std::ofstream out(file, std::ios::binary);
        out << to_text(record);
        out.close();
        if (!out) {
            std::cerr << "abi_layout: cannot write " << file.string() << '\n';
            return 1;
        }
        std::cout << file.string() << '\n';
    } catch (const std::exception& error) {
        std::cerr << "abi_layout: " << error.what() << '\n';
        return 1;
    }
    return 0;
}

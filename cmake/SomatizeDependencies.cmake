# SPDX-License-Identifier: Apache-2.0
# What the core and the program are built from. Everything comes from the system; nothing is downloaded.

find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
# Headers only: Boost.DLL works on std::filesystem, which leaves no Boost library to link.
find_package(Boost 1.74 REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(pegtl 3.2 REQUIRED)

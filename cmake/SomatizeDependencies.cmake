# SPDX-License-Identifier: Apache-2.0
# What the core and the program are built from. Everything comes from the system; nothing is downloaded.

find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
# Headers only: Boost.DLL works on std::filesystem, which leaves no Boost library to link.
find_package(Boost 1.74 REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(pegtl 3.2 REQUIRED)

# libelf ships no CMake package.
find_path(LIBELF_INCLUDE_DIR libelf.h)
find_library(LIBELF_LIBRARY elf)
mark_as_advanced(LIBELF_INCLUDE_DIR LIBELF_LIBRARY)
if(NOT LIBELF_INCLUDE_DIR OR NOT LIBELF_LIBRARY)
  message(FATAL_ERROR "libelf was not found; `sh cmake/setup.sh` installs it on Debian and Ubuntu (libelf-dev).")
endif()
if(NOT TARGET soma::libelf)
  add_library(soma::libelf UNKNOWN IMPORTED)
  set_target_properties(soma::libelf PROPERTIES
    IMPORTED_LOCATION "${LIBELF_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LIBELF_INCLUDE_DIR}")
endif()

# SPDX-License-Identifier: Apache-2.0
# How everything in this tree is compiled. Settings are put on targets, never on the directory or on CMAKE_CXX_FLAGS, so
# that a project which adds this one as a subdirectory keeps its own.

include(GNUInstallDirs)

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(WARNING "Somatize is developed and tested on Linux; ${CMAKE_SYSTEM_NAME} is untried.")
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(SOMATIZE_CCACHE ccache DOC "Compiler cache, used when found")
    mark_as_advanced(SOMATIZE_CCACHE)
    if(SOMATIZE_CCACHE)
      set(CMAKE_C_COMPILER_LAUNCHER "${SOMATIZE_CCACHE}")
      set(CMAKE_CXX_COMPILER_LAUNCHER "${SOMATIZE_CCACHE}")
    endif()
  endif()
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree is laid out as the installed one is, so that plugins, engine and templates are found in both by the
# same rule: relative to libsomatize.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_DATADIR must be relative, else the installed tree cannot be \
moved.")
endif()
set(SOMATIZE_BUILD_LIBDIR "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${SOMATIZE_BUILD_LIBDIR}")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${SOMATIZE_BUILD_LIBDIR}")

set(SOMATIZE_PLUGINDIR "${CMAKE_INSTALL_LIBDIR}/somatize/plugins")
set(SOMATIZE_TEMPLATEDIR "${CMAKE_INSTALL_DATADIR}/somatize/templates")
set(SOMATIZE_PACKAGEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/Somatize")

# soma_target_settings(TARGET [STANDARD 17|20])
# Warnings as errors, hidden visibility, position independent code and the language standard for a target of this tree.
function(soma_target_settings target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "STANDARD" "")
  if(NOT arg_STANDARD)
    set(arg_STANDARD 20)
  endif()
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11
    C_STANDARD_REQUIRED ON
    C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden
    CXX_STANDARD ${arg_STANDARD}
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror -fstack-protector-strong)
  # g++ 12 takes `"text" + string` for a copy onto itself (its bug 105651); later ones do not.
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict>")
  target_link_options(${target} PRIVATE -Wl,-z,now -Wl,-z,relro)
  if(SOMATIZE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SOMATIZE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${SOMATIZE_SANITIZE})
  else()
    # A sanitizer's own symbols are in the program, not in each library.
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# soma_calls_directly(TARGET)
# Calls out of the library go through the table that is filled at its start anyway, and not by way of a stub: between two
# operators that stream a network's weights through the caches, each line of code less is time.
function(soma_calls_directly target)
  target_compile_options(${target} PRIVATE -fno-plt)
endfunction()

# soma_starts_quickly(TARGET)
# For what is loaded at every start of the program: calls within a library are bound when it is linked, as nobody replaces
# them; libraries that are not used are not named; a library is mapped in fewer pieces; and -O2 makes it a sixth smaller
# than a Release build's -O3, for no other difference. docs/decisions/0102 has figures.
function(soma_starts_quickly target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O2>")
  target_link_options(${target} PRIVATE -Wl,-O1 -Wl,-Bsymbolic-functions -Wl,--as-needed -Wl,-z,noseparate-code)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Finds libtorch and offers it as the imported target soma::libtorch, whose headers are system headers.
#
# It is looked for beside CMAKE_PREFIX_PATH, Torch_ROOT and Torch_DIR, then on the system: a distribution's package, an
# unpacked archive, a Python wheel (its `torch` folder, or what `torch.utils.cmake_prefix_path` says). libtorch's own
# CMake package is not used: it asks for Protobuf, or for a CUDA toolkit, and changes its caller's flags, to link three
# shared libraries that need none of it.
#
# Sets SOMATIZE_TORCH_VERSION. In the installed package a libtorch that does not do makes the component `torch` not
# found; in this tree it ends the configuration.

set(SOMATIZE_TORCH_OLDEST 1.13)

# Ends the function that uses it, leaving the text with that function's caller.
macro(_somatize_torch_problem text)
  set(_somatize_torch_error "${text}" PARENT_SCOPE)
  return()
endmacro()

# Looks for libtorch; sets _somatize_torch_error in the caller's scope, empty when all is well.
function(_somatize_find_torch)
  set(_somatize_torch_error "" PARENT_SCOPE)

  set(hints "")
  foreach(root IN LISTS Torch_ROOT TORCH_ROOT)
    list(APPEND hints "${root}")
  endforeach()
  if(Torch_DIR)
    list(APPEND hints "${Torch_DIR}/../../..")
  endif()
  set(prefixes "$ENV{CMAKE_PREFIX_PATH}")
  string(REPLACE ":" ";" prefixes "${prefixes}")
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH prefixes)
    list(APPEND hints "${prefix}" "${prefix}/torch" "${prefix}/../..")
  endforeach()

  set(header torch/csrc/api/include/torch/torch.h)
  find_path(SOMATIZE_TORCH_INCLUDE_DIR ${header} HINTS ${hints} PATH_SUFFIXES include
    DOC "The folder of libtorch's headers")
  mark_as_advanced(SOMATIZE_TORCH_INCLUDE_DIR)
  if(NOT SOMATIZE_TORCH_INCLUDE_DIR)
    _somatize_torch_problem("libtorch was not found. `sh cmake/setup.sh` installs it on Debian and Ubuntu \
(libtorch-dev); one that lies elsewhere is named with -D CMAKE_PREFIX_PATH=FOLDER, the folder of an unpacked libtorch \
or of a Python wheel's `torch`.")
  endif()

  # The libraries are those that belong to these headers, never those of another libtorch.
  cmake_path(GET SOMATIZE_TORCH_INCLUDE_DIR PARENT_PATH root)
  set(folders "${root}/lib" "${root}/lib64")
  if(CMAKE_LIBRARY_ARCHITECTURE)
    list(PREPEND folders "${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  endif()
  foreach(name torch torch_cpu c10)
    find_file(${name}_file "${CMAKE_SHARED_LIBRARY_PREFIX}${name}${CMAKE_SHARED_LIBRARY_SUFFIX}"
      PATHS ${folders} NO_DEFAULT_PATH NO_CACHE)
    if(NOT ${name}_file)
      _somatize_torch_problem("libtorch's headers are in ${SOMATIZE_TORCH_INCLUDE_DIR}, but lib${name}.so is in none \
of ${folders}. A static libtorch does not do: the engine is loaded into a process that may have a libtorch already.")
    endif()
  endforeach()

  set(version "")
  foreach(file torch/csrc/api/include/torch/version.h torch/headeronly/version.h)
    if(EXISTS "${SOMATIZE_TORCH_INCLUDE_DIR}/${file}")
      file(STRINGS "${SOMATIZE_TORCH_INCLUDE_DIR}/${file}" lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      foreach(line IN LISTS lines)
        if(line MATCHES "TORCH_VERSION_([A-Z]+) +([0-9]+)")
          set(part_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
        endif()
      endforeach()
    endif()
  endforeach()
  if(DEFINED part_MAJOR AND DEFINED part_MINOR AND DEFINED part_PATCH)
    set(version "${part_MAJOR}.${part_MINOR}.${part_PATCH}")
  endif()
  if(NOT version OR version VERSION_LESS SOMATIZE_TORCH_OLDEST)
    if(NOT version)
      set(version "of an unknown version")
    endif()
    _somatize_torch_problem("the libtorch in ${root} is ${version}; Somatize needs ${SOMATIZE_TORCH_OLDEST} or later. \
Name another with -D CMAKE_PREFIX_PATH=FOLDER.")
  endif()

  # A libtorch of the old C++ string ABI would link to nothing else on this system, and say so in pages of undefined
  # symbols. Its own symbols tell: only those of the new ABI have __cxx11 in a function that takes a string.
  file(STRINGS "${c10_file}" new_abi LIMIT_COUNT 1 REGEX "^_ZN3c10.*NSt7__cxx1112basic_string")
  if(NOT new_abi)
    _somatize_torch_problem("the libtorch in ${root} was built with the old C++ string ABI \
(_GLIBCXX_USE_CXX11_ABI=0), which the other libraries of this system do not have. Use the archive that has \
`cxx11-abi` in its name, a wheel of libtorch 2.6 or later, or the distribution's libtorch-dev.")
  endif()

  set(SOMATIZE_TORCH_VERSION "${version}" PARENT_SCOPE)
  if(NOT TARGET soma::libtorch)
    add_library(soma::libtorch INTERFACE IMPORTED GLOBAL)
    set_target_properties(soma::libtorch PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES
        "${SOMATIZE_TORCH_INCLUDE_DIR};${SOMATIZE_TORCH_INCLUDE_DIR}/torch/csrc/api/include"
      # libtorch.so has no symbols of its own: it pulls in the libraries of the devices it was built for, and a linker
      # that keeps only what is used would drop it.
      INTERFACE_LINK_LIBRARIES
        "-Wl,--push-state,--no-as-needed,${torch_file},--pop-state;${torch_cpu_file};${c10_file}")
    # From some release between these two on, its headers ask for C++20; all the later ones take it.
    if(version VERSION_GREATER 2.7)
      set_property(TARGET soma::libtorch PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_20)
    else()
      set_property(TARGET soma::libtorch PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_17)
    endif()
    message(STATUS "Found libtorch ${version}: ${torch_file}")
  endif()
endfunction()

_somatize_find_torch()
if(_somatize_torch_error AND NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "Somatize")
  message(FATAL_ERROR "${_somatize_torch_error}")
endif()

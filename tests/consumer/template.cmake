# SPDX-License-Identifier: Apache-2.0
# cmake -DLANGUAGE=cpp|c|torch -DBINARY=folder -DPREFIX=folder -DBINDIR=bin -DPCPATH=folder -DGENERATOR=name
#       -DNM=program -DCC=compiler -DCXX=compiler -DOBEYS=text -DIGNORES=text [-DBARE=ON] -P template.cmake
#
# Has the installed program write a plugin's project, does what its README says, and then breaks the node: with the text
# OBEYS replaced by IGNORES it no longer heeds its placement, and the project's own test has to notice.
# With BARE only the README's commands are run, where there is no C++ compiler and no header of libtorch.

include("${CMAKE_CURRENT_LIST_DIR}/../support/exports.cmake")

# run(FOLDER command...): sets `out` and `result`.
function(run folder)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${folder}" OUTPUT_VARIABLE out ERROR_VARIABLE out
    RESULT_VARIABLE result)
  set(out "${out}" PARENT_SCOPE)
  set(result "${result}" PARENT_SCOPE)
endfunction()

function(run_well)
  run(${ARGN})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${result}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

set(ENV{PATH} "${PREFIX}/${BINDIR}:$ENV{PATH}")
set(ENV{PKG_CONFIG_PATH} "${PCPATH}")
set(ENV{CMAKE_PREFIX_PATH} "${PREFIX}:$ENV{CMAKE_PREFIX_PATH}")
set(ENV{CMAKE_GENERATOR} "${GENERATOR}")
set(ENV{CC} "${CC}")
set(ENV{CXX} "${CXX}")
set(ENV{SOMATIZE_PLUGIN_PATH} "")
set(ENV{XDG_DATA_HOME} "${BINARY}/no-such-folder")
if(LANGUAGE STREQUAL "c")
  set(ENV{CXX} "${BINARY}/no-such-compiler")
endif()

file(REMOVE_RECURSE "${BINARY}")
file(MAKE_DIRECTORY "${BINARY}")
run_well("${BINARY}" somatize new outsiders --lang ${LANGUAGE})
set(project "${BINARY}/outsiders")

# All commands of the README, in their order.
file(STRINGS "${project}/README.md" lines)
find_program(pkg_config NAMES pkg-config pkgconf)
set(script "")
set(shell OFF)
foreach(line IN LISTS lines)
  if(line STREQUAL "```sh")
    set(shell ON)
  elseif(line STREQUAL "```")
    set(shell OFF)
  elseif(shell)
    string(APPEND script "${line}\n")
  endif()
endforeach()
if(NOT pkg_config)
  string(REGEX REPLACE "\ncc [^\n]*\n[^\n]*\n" "\n" script "${script}")
endif()
string(REGEX MATCHALL "\n" count "${script}")
list(LENGTH count count)
if(count LESS 6)
  message(FATAL_ERROR "the README has only these commands:\n${script}")
endif()
file(WRITE "${BINARY}/readme.sh" "${script}")
set(bare "")
if(BARE)
  set(bare sh "${CMAKE_CURRENT_LIST_DIR}/bare.sh")
  run("${project}" ${bare} true)
  if(result EQUAL 77)
    message("soma-test skipped: nothing can be hidden from a process here")
    return()
  endif()
endif()
run_well("${project}" ${bare} sh -eu "${BINARY}/readme.sh")
if(NOT out MATCHES "100% tests passed, 0 tests failed out of 4" OR NOT out MATCHES "float32.2. on meta"
    OR NOT out MATCHES "[0-9]+ passed, 0 failed, ")
  message(FATAL_ERROR "the README's commands printed:\n${out}")
endif()
check_exports("${NM}" "${project}/build/outsiders.soma.so")
if(BARE)
  return()
endif()

if(LANGUAGE STREQUAL "torch")
  # The note names the libtorch, and the host goes by it.
  execute_process(COMMAND env LC_ALL=C sed "s/libtorch=[0-9]/libtorch=9/" build/outsiders.soma.so WORKING_DIRECTORY "${project}"
    OUTPUT_FILE "${BINARY}/other.soma.so")
  run("${project}" somatize inspect "${BINARY}/other.soma.so")
  if(NOT result EQUAL 4 OR NOT out MATCHES "expected `libtorch=[0-8][^`]*`, got `libtorch=9")
    message(FATAL_ERROR "a plugin built with another libtorch was not refused for it:\n${out}")
  endif()
else()
  file(STRINGS "${project}/build/CMakeCache.txt" cached REGEX "[Tt][Oo][Rr][Cc][Hh]")
  if(cached)
    message(FATAL_ERROR "the configuration looked for libtorch: ${cached}")
  endif()
endif()

file(GLOB source "${project}/outsiders.c*")
file(READ "${source}" before)
string(REPLACE "${OBEYS}" "${IGNORES}" after "${before}")
if(after STREQUAL before)
  message(FATAL_ERROR "`${OBEYS}` is not in ${source}")
endif()
file(WRITE "${source}" "${after}")
run_well("${project}" "${CMAKE_COMMAND}" --build build)
run("${project}" ctest --test-dir build --output-on-failure)
if(result EQUAL 0 OR NOT out MATCHES "3 tests failed out of 4" OR NOT out MATCHES "meta"
    OR NOT out MATCHES "obeys +FAIL: node `scale` failed: it declared `(meta|cuda:0)` but returned a value on `cpu`")
  message(FATAL_ERROR "the tests of a node that heeds no placement were to fail on meta, on cuda:1 and in verify:\n${out}")
endif()

# SPDX-License-Identifier: Apache-2.0
# cmake -DPROJECT=folder -DBINARY=folder -DPREFIX=folder -DGENERATOR=name -DPRODUCT=file -DKIND=plugin|program
#       -DNM=program [-DTORCH=ON] -P build.cmake
#
# Builds one of the outsider's projects against the installed package, and looks at what came out. Unless TORCH is on,
# nothing may look for libtorch.

include("${CMAKE_CURRENT_LIST_DIR}/../support/exports.cmake")

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${result}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${BINARY}")
run("${CMAKE_COMMAND}" -S "${PROJECT}" -B "${BINARY}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
  -DCMAKE_BUILD_TYPE=Release)
if(NOT TORCH)
  if(out MATCHES "[Tt]orch")
    message(FATAL_ERROR "the configuration has to do with libtorch:\n${out}")
  endif()
  file(STRINGS "${BINARY}/CMakeCache.txt" cached REGEX "[Tt][Oo][Rr][Cc][Hh]")
  if(cached)
    message(FATAL_ERROR "the configuration looked for libtorch: ${cached}")
  endif()
endif()
run("${CMAKE_COMMAND}" --build "${BINARY}" -j 2)
if(KIND STREQUAL "plugin")
  check_exports("${NM}" "${BINARY}/${PRODUCT}")
else()
  run("${BINARY}/${PRODUCT}")
  if(NOT out MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+\n$")
    message(FATAL_ERROR "${PRODUCT} printed ${out}")
  endif()
endif()

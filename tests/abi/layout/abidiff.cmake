# SPDX-License-Identifier: Apache-2.0
# cmake -DABIDIFF=program -DCC=compiler -DINCLUDE=folder -DRECORDS=folder -DBUILD=folder -P abidiff.cmake
#
# What libabigail thinks of today's headers beside each baseline in RECORDS: a second opinion, which knows nothing of ours.
# Then of broken copies, each of which it has to report.

include("${CMAKE_CURRENT_LIST_DIR}/abigail.cmake")
if(NOT ABIDIFF OR NOT CC)
  message("soma-test skipped: abidiff or gcc is missing; `sh cmake/setup.sh` installs them")
  return()
endif()
# The report is read.
set(ENV{LC_ALL} C)
file(REMOVE_RECURSE "${BUILD}")

# judge(BASELINE INCLUDE NAME OUT): sets OUT to what is wrong, empty when nothing is.
function(judge baseline include name out)
  make_library("${CC}" "${include}" "${BUILD}/${name}" library)
  # Structs that are new are no change of the old ones, and names are what they are: renaming is reported only with
  # --harmless.
  execute_process(COMMAND "${ABIDIFF}" --no-architecture --no-added-syms --no-show-locs --leaf-changes-only --harmless
      "${baseline}" "${library}"
    RESULT_VARIABLE result OUTPUT_VARIABLE report ERROR_VARIABLE report)
  read_version("${include}" version)
  cmake_path(GET baseline STEM LAST_ONLY released)
  set(${out} "" PARENT_SCOPE)
  # Its exit code: 1 and 2 are failures of its own, 4 is any change, 8 is a function that is gone. A change is all right
  # when it is an append in a later minor, which the report tells.
  if(NOT result MATCHES "^[04]$" OR report MATCHES "data member (change|deletion)" OR
      (report MATCHES " changed:" AND version VERSION_EQUAL released))
    set(${out} "abidiff ended with ${result} and says of ${version} beside ${released}:\n${report}" PARENT_SCOPE)
  endif()
endfunction()

file(GLOB baselines "${RECORDS}/*.abi")
if(NOT baselines)
  message(FATAL_ERROR "there is no baseline in ${RECORDS}")
endif()
read_version("${INCLUDE}" version)
foreach(baseline IN LISTS baselines)
  cmake_path(GET baseline STEM LAST_ONLY released)
  # Of another major nothing is promised that libabigail could see.
  string(REGEX REPLACE "[.].*" "" major "${version}")
  string(REGEX REPLACE "[.].*" "" released_major "${released}")
  if(NOT major EQUAL released_major)
    continue()
  endif()
  judge("${baseline}" "${INCLUDE}" today wrong)
  if(wrong)
    message(FATAL_ERROR "${wrong}")
  endif()
endforeach()

# broken(NAME HEADER FROM TO [REPORT regex]): a copy in which FROM became TO; without REPORT it has to be all right.
function(broken name header from to)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "REPORT" "MINOR")
  set(copy "${BUILD}/${name}/include")
  file(COPY "${INCLUDE}/" DESTINATION "${copy}")
  file(READ "${copy}/soma/${header}" text)
  string(REPLACE "${from}" "${to}" changed "${text}")
  if(changed STREQUAL text)
    message(FATAL_ERROR "${header} has no ${from}")
  endif()
  file(WRITE "${copy}/soma/${header}" "${changed}")
  file(READ "${copy}/soma/abi/base.h" text)
  string(REPLACE "_Static_assert(condition, text)" "_Static_assert(1, text)" text "${text}")
  string(REGEX REPLACE "SOMA_ABI_MINOR [0-9]+u" "SOMA_ABI_MINOR ${arg_MINOR}u" text "${text}")
  file(WRITE "${copy}/soma/abi/base.h" "${text}")
  judge("${RECORDS}/1.0.abi" "${copy}" "${name}" wrong)
  if(arg_REPORT AND NOT wrong MATCHES "${arg_REPORT}")
    message(FATAL_ERROR "${name}: expected a report of ${arg_REPORT}, got:\n${wrong}")
  elseif(NOT arg_REPORT AND wrong)
    message(FATAL_ERROR "${name}: expected no report, got:\n${wrong}")
  endif()
endfunction()

broken(inserted abi/context.h "    void* stream;" "    uint64_t extra;\n    void* stream;" MINOR 1
  REPORT "soma_ctx.*uint64_t extra.*offset changed from")
broken(retyped abi/context.h "uint64_t run_id;" "int64_t run_id;" MINOR 1 REPORT "soma_ctx::run_id.*int64_t")
broken(renamed abi/context.h "uint64_t run_id;" "uint64_t run_number;" MINOR 1 REPORT "soma_ctx::run_number")
broken(removed abi/context.h "uint64_t seed;" "" MINOR 1 REPORT "data member deletion.*seed")
broken(grown abi/base.h "} soma_string;" "    uint64_t hash;\n} soma_string;" MINOR 1 REPORT "soma_string.*hash")
broken(appended abi/context.h "} soma_ctx;" "    uint64_t later;\n} soma_ctx;" MINOR 1)
broken(appended_in_silence abi/context.h "} soma_ctx;" "    uint64_t later;\n} soma_ctx;" MINOR 0
  REPORT "1.0 beside 1.0.*uint64_t later")

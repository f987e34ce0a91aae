# SPDX-License-Identifier: Apache-2.0
# cmake -DWRITER=program -DCLANG=program -DABIDW=program -DCC=compiler -DINCLUDE=folder -DRECORDS=folder -DBUILD=folder
#       -P record.cmake
#
# Writes what a release records into RECORDS: MAJOR.MINOR-lp64.txt and MAJOR.MINOR.abi. What is there is never replaced.

include("${CMAKE_CURRENT_LIST_DIR}/abigail.cmake")
foreach(tool CLANG ABIDW CC)
  if(NOT ${tool})
    message(FATAL_ERROR "a record takes clang, abidw and gcc; `sh cmake/setup.sh` installs them")
  endif()
endforeach()
read_version("${INCLUDE}" version)
set(baseline "${RECORDS}/${version}.abi")
if(EXISTS "${baseline}")
  message(FATAL_ERROR "${baseline} is there: ${version} was released; raise SOMA_ABI_MINOR for a new record")
endif()
execute_process(COMMAND "${WRITER}" "${CLANG}" "${INCLUDE}" "${RECORDS}" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "no record was written")
endif()
file(REMOVE_RECURSE "${BUILD}")
make_library("${CC}" "${INCLUDE}" "${BUILD}" library)
execute_process(COMMAND "${ABIDW}" --no-architecture --no-corpus-path --no-comp-dir-path --no-show-locs
    --no-write-default-sizes --no-elf-needed --out-file "${baseline}" "${library}"
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "abidw ended with ${result}")
endif()
message(STATUS "wrote ${baseline}")

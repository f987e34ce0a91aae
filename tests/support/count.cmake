# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=folder -DPROGRAMS=list -DCATCH=version -P count.cmake
#
# Every test case of every program is known to ctest once, under its own name. Discovery of Catch2 2.13 cuts a name at a
# semicolon into two that select nothing.

execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --show-only=json-v1
  WORKING_DIRECTORY "${BUILD}" OUTPUT_VARIABLE known RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "ctest --show-only ended with ${result}")
endif()

# An unbalanced bracket would join the elements of a list.
string(REGEX REPLACE "[][;]" "" known "${known}")

set(failures "")
set(total 0)
string(REPLACE "|" ";" programs "${PROGRAMS}")
foreach(program IN LISTS programs)
  if(CATCH VERSION_LESS 3)
    execute_process(COMMAND "${program}" --list-test-names-only OUTPUT_VARIABLE names)
  else()
    execute_process(COMMAND "${program}" --list-tests --verbosity quiet OUTPUT_VARIABLE names)
  endif()
  string(REGEX REPLACE "[][;]" "" bare "${names}")
  string(REGEX MATCHALL "[^\n]+" lines "${bare}")
  # A semicolon would be a list's separator to CMake as well.
  string(REPLACE ";" "" without "${names}")
  if(NOT without STREQUAL names)
    string(APPEND failures "\n${program}: a test's name holds a semicolon")
  endif()
  list(LENGTH lines own)

  string(REGEX REPLACE "([+.*?()^$|\\{}])" "\\\\\\1" pattern "${program}")
  string(REGEX MATCHALL "\"command\" :[ \n]*\"${pattern}\"," matches "${known}")
  list(LENGTH matches registered)
  if(own EQUAL 0 OR NOT own EQUAL registered)
    string(APPEND failures "\n${program} lists ${own} test cases, ctest knows ${registered}")
  endif()
  math(EXPR total "${total} + ${own}")
endforeach()

if(failures OR total EQUAL 0)
  message(FATAL_ERROR "ctest and the test programs do not agree:${failures}")
endif()
message(STATUS "${total} test cases")

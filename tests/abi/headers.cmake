# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=program -DLANGUAGE=c|c++ -DSTANDARDS=list -DROOT=folder -DINCLUDES=list -DBUILD=folder
#       [-DEXCLUDE=regex] -P headers.cmake
#
# Every header below ROOT compiles with nothing before it, and when it is included twice, in every standard that the compiler
# has; the lists are separated by |.

string(REPLACE "|" ";" standards "${STANDARDS}")
string(REPLACE "|" ";" includes "${INCLUDES}")
list(TRANSFORM includes PREPEND "-I")
file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/soma/*.h")
if(EXCLUDE)
  list(FILTER headers EXCLUDE REGEX "${EXCLUDE}")
endif()
list(LENGTH headers count)
if(count EQUAL 0)
  message(FATAL_ERROR "there is no header below ${ROOT}")
endif()

set(tried "")
foreach(standard IN LISTS standards)
  # A standard that the compiler does not know yet is left out.
  execute_process(COMMAND "${COMPILER}" -std=${standard} -x ${LANGUAGE} -fsyntax-only /dev/null
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(NOT result EQUAL 0)
    continue()
  endif()
  list(APPEND tried ${standard})
  foreach(header IN LISTS headers)
    set(source "${BUILD}/header.in")
    # What the first line lacks it does not get from the second. A translation unit may not be empty in C.
    file(WRITE "${source}" "#include <${header}>\n#include <${header}>\nextern int nothing;\n")
    execute_process(COMMAND "${COMPILER}" -std=${standard} -x ${LANGUAGE} -fsyntax-only
        -Wall -Wextra -Wpedantic -Werror ${includes} "${source}"
      RESULT_VARIABLE result ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "<${header}> included twice and after nothing else does not compile as ${standard}:\n${errors}")
    endif()
  endforeach()
endforeach()
if(NOT tried)
  message(FATAL_ERROR "${COMPILER} knows none of ${STANDARDS}")
endif()
message(STATUS "${count} headers of ${ROOT} with ${COMPILER} as ${tried}")

# SPDX-License-Identifier: Apache-2.0
# cmake -DNM=program -DCC=compiler -DFOLDERS=list -DBUILD=folder -P exports_all.cmake, the list separated by |.
#
# Every plugin below the folders that plugins are built into exports its entry alone, whoever built it there; and a plugin
# that lets more out, or something else, is noticed.

set(script "${CMAKE_CURRENT_LIST_DIR}/../support/exports.cmake")
include("${script}")

set(count 0)
string(REPLACE "|" ";" folders "${FOLDERS}")
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE plugins "${folder}/*.soma.so")
  foreach(plugin IN LISTS plugins)
    check_exports("${NM}" "${plugin}")
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "there is no plugin in ${FOLDERS}")
endif()
message(STATUS "${count} plugins")

# leaks(NAME CODE REGEX): a library of CODE has to be refused in words that match, however CMake breaks its lines.
function(leaks name code regex)
  file(WRITE "${BUILD}/${name}.c" "${code}")
  execute_process(COMMAND "${CC}" -std=c11 -shared -fPIC "${BUILD}/${name}.c" -o "${BUILD}/${name}.soma.so"
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${name}.c does not compile")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DNM=${NM}" "-DPLUGINS=${BUILD}/${name}.soma.so" -P "${script}"
    RESULT_VARIABLE result ERROR_VARIABLE said)
  if(result EQUAL 0 OR NOT said MATCHES "${regex}")
    message(FATAL_ERROR "${name}.soma.so was not refused for ${regex}, but: ${said}")
  endif()
endfunction()

leaks(helper "int soma_plugin_entry; int helper(void); int helper(void) { return 1; }" "helper.*soma_plugin_entry")
leaks(weak "int soma_plugin_entry; __attribute__((weak)) int inlined(void) { return 1; }" "inlined.*soma_plugin_entry")
leaks(nothing "static int entry; int* address(void) { return &entry; }" "alone;.*address")

# SPDX-License-Identifier: Apache-2.0
# check_exports(NM FILE): the plugin FILE exports its entry, and nothing else.
#
# As a script: cmake -DNM=program -DPLUGINS=list -P exports.cmake, the list separated by |.

function(check_exports nm file)
  execute_process(COMMAND "${nm}" --dynamic --defined-only --format=posix "${file}"
    OUTPUT_VARIABLE symbols ERROR_VARIABLE problem RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${nm} ${file} ended with ${result}: ${problem}")
  endif()
  string(REGEX REPLACE " [^\n]*" "" symbols "${symbols}")
  string(STRIP "${symbols}" symbols)
  if(NOT symbols STREQUAL "soma_plugin_entry")
    message(FATAL_ERROR "${file} must export soma_plugin_entry alone; it exports:\n${symbols}")
  endif()
endfunction()

if(DEFINED PLUGINS)
  string(REPLACE "|" ";" plugins "${PLUGINS}")
  foreach(plugin IN LISTS plugins)
    check_exports("${NM}" "${plugin}")
  endforeach()
endif()

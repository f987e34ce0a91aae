# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=support_outcomes -DCATCH=version -P outcomes.cmake

set(no_match "")
if(CATCH VERSION_LESS 3)
  set(no_match -w NoTests)
endif()

function(expect case should_pass should_skip)
  execute_process(COMMAND "${PROGRAM}" "${case}" ${no_match} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
  if(should_pass AND NOT result EQUAL 0 OR NOT should_pass AND result EQUAL 0)
    message(FATAL_ERROR "`${case}` ended with ${result}:\n${out}")
  endif()
  string(FIND "${out}" "soma-test skipped: " found)
  if(should_skip AND found EQUAL -1 OR NOT should_skip AND NOT found EQUAL -1)
    message(FATAL_ERROR "`${case}` printed the wrong thing about skipping:\n${out}")
  endif()
endfunction()

expect("passes" TRUE FALSE)
expect("skips" TRUE TRUE)
expect("skips in one section and fails in the next" FALSE FALSE)
expect("fails and then skips" FALSE FALSE)
expect("fails four times" FALSE FALSE)
expect("no such case" FALSE FALSE)

# SPDX-License-Identifier: Apache-2.0
find_package(Catch2 REQUIRED)
include(Catch)

# soma_add_test(NAME name SOURCES file... [LIBS target...] [LABELS label...])
function(soma_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LIBS;LABELS")
  add_executable(${arg_NAME} ${arg_SOURCES})
  soma_target_settings(${arg_NAME})
  target_link_libraries(${arg_NAME} PRIVATE soma_test_support ${arg_LIBS})
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_match -w NoTests)
  endif()
  catch_discover_tests(${arg_NAME} EXTRA_ARGS ${no_match}
    PROPERTIES TIMEOUT 300 LABELS "${arg_LABELS}" SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()

# SPDX-License-Identifier: Apache-2.0
# How tests are declared in this tree.

# No version is named: Catch2's package takes 3 for no successor of 2.13.
find_package(Catch2 REQUIRED)
if(Catch2_VERSION VERSION_LESS 2.13)
  message(FATAL_ERROR "Catch2 ${Catch2_VERSION} was found; the tests need 2.13 or later.")
endif()
if(NOT COMMAND catch_discover_tests)
  list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
  include(Catch)
endif()

set(SOMATIZE_TEST_PLUGINDIR "${PROJECT_BINARY_DIR}/tests/plugins")

# soma_add_test(NAME name SOURCES file... [LIBS target...] [LABELS label] [DEPENDS target...]
#               [ENVIRONMENT NAME=VALUE] [TIMEOUT seconds] [SERIAL])
#
# Builds the Catch2 program `name` and gives each of its test cases to ctest under the case's own name. DEPENDS names
# what must be built for the program to run, such as plugins. SERIAL keeps its cases from running beside any other.
function(soma_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL" "NAME;LABELS;ENVIRONMENT;TIMEOUT" "SOURCES;LIBS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "soma_add_test(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()

  add_executable(${arg_NAME} ${arg_SOURCES})
  soma_target_settings(${arg_NAME})
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  target_link_libraries(${arg_NAME} PRIVATE soma_test_support ${arg_LIBS})
  if(arg_DEPENDS)
    add_dependencies(${arg_NAME} ${arg_DEPENDS})
  endif()

  # A name that discovery garbled selects no test, which must not pass: version 3 sees to that by itself.
  set(extra "")
  if(Catch2_VERSION VERSION_LESS 3)
    set(extra EXTRA_ARGS -w NoTests)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT} SKIP_REGULAR_EXPRESSION "soma-test skipped: ")
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  if(arg_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  if(arg_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  catch_discover_tests(${arg_NAME} ${extra} PROPERTIES ${properties})
  set_property(GLOBAL APPEND PROPERTY SOMATIZE_TEST_PROGRAMS ${arg_NAME})
endfunction()

# soma_add_test_plugin(NAME name SOURCES file... [FOLDER folder] [TORCH])
#
# A plugin that tests load. It is built as target `test_plugin_<name>` into <build>/tests/plugins/<folder>; the folder is
# the plugin's name unless given, so that a test loads the ones it means and no other.
function(soma_add_test_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TORCH" "NAME;FOLDER" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "soma_add_test_plugin(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${arg_NAME}")
  endif()
  set(target test_plugin_${arg_NAME})
  set(torch "")
  if(arg_TORCH)
    set(torch TORCH)
  endif()
  somatize_add_plugin(NAME ${arg_NAME} TARGET ${target} ${torch} SOURCES ${arg_SOURCES})
  if(arg_TORCH)
    soma_target_settings(${target})
  else()
    soma_target_settings(${target} STANDARD 17)
  endif()
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${SOMATIZE_TEST_PLUGINDIR}/${arg_FOLDER}")
endfunction()

# soma_add_script_test(NAME name SCRIPT file [DEFINES VAR=VALUE...] [LABELS label] [TIMEOUT seconds])
#
# A test written as a CMake script, which fails by message(FATAL_ERROR).
function(soma_add_script_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SCRIPT;LABELS;TIMEOUT" "DEFINES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  list(TRANSFORM arg_DEFINES PREPEND "-D")
  add_test(NAME "${arg_NAME}"
    COMMAND "${CMAKE_COMMAND}" ${arg_DEFINES} -P "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT}")
  set_tests_properties("${arg_NAME}" PROPERTIES
    TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" SKIP_REGULAR_EXPRESSION "soma-test skipped: ")
endfunction()

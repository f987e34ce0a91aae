# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=file.c -DBINARY=folder -DPCPATH=folder -DPREFIX=folder -DCC=compiler -DNM=program -P pkgconfig.cmake
#
# The plugin that is one command, with nothing but a C compiler and pkg-config.

include("${CMAKE_CURRENT_LIST_DIR}/../support/exports.cmake")

find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
  message("soma-test skipped: there is no pkg-config")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} "${PCPATH}")
file(REMOVE_RECURSE "${BINARY}")
file(MAKE_DIRECTORY "${BINARY}")
execute_process(
  COMMAND sh -c "\"$0\" -shared -o outsider.soma.so \"$1\" $(\"$2\" --cflags --libs somatize)" "${CC}" "${SOURCE}"
    "${pkg_config}"
  WORKING_DIRECTORY "${BINARY}" OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the one command ended with ${result}:\n${out}")
endif()
check_exports("${NM}" "${BINARY}/outsider.soma.so")

execute_process(COMMAND "${pkg_config}" --variable=pluginsdir somatize
  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
cmake_path(NORMAL_PATH folder)
cmake_path(IS_PREFIX PREFIX "${folder}" inside)
if(NOT inside OR NOT folder MATCHES "/somatize/plugins$")
  message(FATAL_ERROR "pluginsdir is `${folder}`, which is not in ${PREFIX}")
endif()

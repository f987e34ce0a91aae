# SPDX-License-Identifier: Apache-2.0
# cmake -DDOXYGEN=program -DCONFIG=file -DBROKEN=file -DFOLDER=folder -P reference.cmake
#
# The reference is made without a warning: no public symbol lacks a comment. BROKEN configures the same over FOLDER, into
# which a header with one undocumented function is written: that one must be named.

function(make config result output)
  execute_process(COMMAND "${DOXYGEN}" "${config}" RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  set(${result} "${code}" PARENT_SCOPE)
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

make("${CONFIG}" code output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the reference is not complete:\n${output}")
endif()

file(MAKE_DIRECTORY "${FOLDER}/in" "${FOLDER}/out")
file(WRITE "${FOLDER}/in/broken.h"
  "/// @file broken.h\n/// One function too few.\n/// Documented.\nint fine(int x);\nint forgotten(int x);\n")
make("${BROKEN}" code output)
if(code EQUAL 0 OR NOT output MATCHES "forgotten")
  message(FATAL_ERROR "a function without a comment was not noticed (${code}):\n${output}")
endif()

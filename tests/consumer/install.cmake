# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=folder -DPREFIX=folder -DBINDIR=bin [-DENGINE=ON] -P install.cmake
#
# Installs the project, then moves the installed tree to PREFIX: what the other tests here use has been moved.

file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}-before")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}-before"
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the installation ended with ${result}:\n${out}")
endif()
file(RENAME "${PREFIX}-before" "${PREFIX}")

# Neither the source tree, nor the build tree, nor the first place may be named in a text that was installed.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH tests)
cmake_path(GET tests PARENT_PATH source)
file(GLOB_RECURSE texts "${PREFIX}/*.cmake" "${PREFIX}/*.pc" "${PREFIX}/*.h")
list(LENGTH texts count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} texts were installed")
endif()
foreach(text IN LISTS texts)
  file(READ "${text}" content)
  foreach(folder "${source}/" "${BUILD}" "${PREFIX}-before")
    string(FIND "${content}" "${folder}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${text} names ${folder}")
    endif()
  endforeach()
endforeach()

# The program runs from where it is now, and finds the plugins and the engine that were moved with it.
set(ENV{SOMATIZE_PLUGIN_PATH} "")
set(ENV{XDG_DATA_HOME} "${PREFIX}/no-such-folder")
function(somatize expected)
  execute_process(COMMAND "${PREFIX}/${BINDIR}/somatize" ${ARGN} WORKING_DIRECTORY "${PREFIX}"
    OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT out MATCHES "${expected}")
    message(FATAL_ERROR "the moved program with ${ARGN} ended with ${result}, without `${expected}`:\n${out}")
  endif()
endfunction()
somatize("[0-9]+\\.[0-9]+\\.[0-9]+" --version)
somatize("flow\\.identity" nodes)
somatize("^ok: " check share/somatize/examples/licence.soma)
if(ENGINE)
  somatize("float32.8. on cpu" run "text.tokenize >> nn.bag(dim=8).on(\"cpu\")" --in "some text")
endif()

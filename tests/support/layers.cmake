# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=list -DENGINE=file -DSOURCE=folder -P layers.cmake, the list separated by |.
#
# Nothing but the engine, and what asks for it, may need libtorch: not by itself, and not through another library.

# Sets `out` to the libraries of libtorch that loading `file` would load.
function(libtorch_of file out)
  file(GET_RUNTIME_DEPENDENCIES LIBRARIES "${file}"
    RESOLVED_DEPENDENCIES_VAR resolved UNRESOLVED_DEPENDENCIES_VAR unresolved)
  set(all ${resolved} ${unresolved})
  list(FILTER all INCLUDE REGEX "(^|/)lib(torch|c10|caffe2|somatize-torch)[^/]*$")
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

string(REPLACE "|" ";" files "${FILES}")
foreach(file IN LISTS files)
  libtorch_of("${file}" found)
  if(found)
    message(FATAL_ERROR "${file} depends on libtorch: ${found}")
  endif()
endforeach()

# The same look at the engine must find it, else this test proves nothing.
if(ENGINE)
  libtorch_of("${ENGINE}" found)
  if(NOT found MATCHES "libtorch_cpu")
    message(FATAL_ERROR "${ENGINE} does not depend on libtorch_cpu, says: ${found}")
  endif()
endif()

# The SDK is headers: what they include.
file(GLOB_RECURSE headers "${SOURCE}/abi/include/*.h" "${SOURCE}/sdk/include/*.h")
foreach(header IN LISTS headers)
  if(header MATCHES "/sdk/torch[^/]*$")
    continue()
  endif()
  file(STRINGS "${header}" includes REGEX "^ *# *include *[<\"](torch|ATen|c10|caffe2|soma/sdk/torch|torch[.]h)")
  if(includes)
    message(FATAL_ERROR "${header} includes libtorch: ${includes}")
  endif()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# What libabigail's tools need: a library in whose debug information every struct of the headers is.

# make_library(CC INCLUDE FOLDER OUT): builds it in FOLDER and sets OUT to its path.
function(make_library cc include folder out)
  file(GLOB headers RELATIVE "${include}" "${include}/soma/*.h" "${include}/soma/abi/*.h" "${include}/soma/ext/*.h")
  set(includes "")
  set(structs "")
  foreach(header IN LISTS headers)
    string(APPEND includes "#include \"${header}\"\n")
    file(STRINGS "${include}/${header}" lines REGEX "^typedef struct [a-z_]+ {")
    list(TRANSFORM lines REPLACE "^typedef struct ([a-z_]+) .*" "\\1")
    list(APPEND structs ${lines})
  endforeach()
  list(SORT structs)
  set(functions "")
  foreach(struct IN LISTS structs)
    string(APPEND functions "void use_${struct}(const ${struct}* object);\n"
      "void use_${struct}(const ${struct}* object) { (void)object; }\n")
  endforeach()
  file(WRITE "${folder}/use.c" "${includes}${functions}")
  # Libabigail reads this version of DWARF best, and every compiler writes it.
  execute_process(COMMAND "${cc}" -std=c11 -O0 -g -gdwarf-4 -shared -fPIC -nostdlib -I "${include}" use.c -o use.so
    WORKING_DIRECTORY "${folder}" RESULT_VARIABLE result ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${cc} does not compile the headers of ${include}:\n${errors}")
  endif()
  set(${out} "${folder}/use.so" PARENT_SCOPE)
endfunction()

# read_version(INCLUDE OUT): MAJOR.MINOR of the headers.
function(read_version include out)
  file(READ "${include}/soma/abi/base.h" base)
  if(NOT base MATCHES "SOMA_ABI_MAJOR ([0-9]+)u")
    message(FATAL_ERROR "${include} does not define SOMA_ABI_MAJOR")
  endif()
  set(major "${CMAKE_MATCH_1}")
  if(NOT base MATCHES "SOMA_ABI_MINOR ([0-9]+)u")
    message(FATAL_ERROR "${include} does not define SOMA_ABI_MINOR")
  endif()
  set(${out} "${major}.${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

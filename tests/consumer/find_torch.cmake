# SPDX-License-Identifier: Apache-2.0
# cmake -DMODULE=SomatizeTorch.cmake -DBINARY=folder -DCXX=compiler -DGENERATOR=name -P find_torch.cmake
#
# libtorch is found in the layouts it comes in, and one that does not do is refused in words. The trees are made here:
# a version header, and libraries that hold what the module looks at.

# make_libtorch(FOLDER VERSION ABI): headers and libraries as in an unpacked archive.
function(make_libtorch folder version abi)
  string(REPLACE "." ";" parts "${version}")
  list(GET parts 0 major)
  list(GET parts 1 minor)
  set(api "${folder}/include/torch/csrc/api/include/torch")
  file(WRITE "${api}/torch.h" "")
  file(WRITE "${api}/version.h"
    "#define TORCH_VERSION_MAJOR ${major}\n#define TORCH_VERSION_MINOR ${minor}\n#define TORCH_VERSION_PATCH 1\n")
  file(WRITE "${folder}/share/cmake/Torch/TorchConfig.cmake" "message(FATAL_ERROR \"this one is not asked\")\n")
  file(MAKE_DIRECTORY "${folder}/lib")
  file(TOUCH "${folder}/lib/libtorch.so" "${folder}/lib/libtorch_cpu.so")
  file(COPY_FILE "${BINARY}/abi${abi}.so" "${folder}/lib/libc10.so")
endfunction()

# configure(PREFIX [argument...]): sets `result` and `out`.
function(configure prefix)
  file(REMOVE_RECURSE "${BINARY}/build")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/torch" -B "${BINARY}/build" -G "${GENERATOR}"
      "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_CXX_COMPILER_FORCED=ON "-DMODULE=${MODULE}" "-DCMAKE_PREFIX_PATH=${prefix}" ${ARGN}
    OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
  # CMake breaks its lines where it likes.
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  set(out "${out}" PARENT_SCOPE)
  set(result "${result}" PARENT_SCOPE)
endfunction()

function(expect_found prefix library)
  configure("${prefix}" ${ARGN})
  string(FIND "${out}" "${library}" found)
  if(NOT result EQUAL 0 OR found EQUAL -1 OR NOT out MATCHES "flags::")
    message(FATAL_ERROR "with ${prefix} ${ARGN}, ${library} was to be found:\n${out}")
  endif()
endfunction()

# expect_refused(PREFIX WORDS...): each of them is said.
function(expect_refused prefix)
  configure("${prefix}")
  foreach(words IN LISTS ARGN)
    string(FIND "${out}" "${words}" found)
    if(result EQUAL 0 OR found EQUAL -1)
      message(FATAL_ERROR "with ${prefix}, `${words}` was to be said:\n${out}")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${BINARY}")
file(WRITE "${BINARY}/c10.cpp" "#include <string>\nnamespace c10 { void warn(const std::string&) {} }\n")
foreach(abi 0 1)
  execute_process(
    COMMAND "${CXX}" -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=${abi} -o "${BINARY}/abi${abi}.so" "${BINARY}/c10.cpp"
    ERROR_VARIABLE problem RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "abi${abi}.so: ${problem}")
  endif()
endforeach()

# The folder of an unpacked archive, and the three ways to name a wheel's.
make_libtorch("${BINARY}/libtorch" 2.6 1)
expect_found("${BINARY}/libtorch" "${BINARY}/libtorch/lib/libtorch_cpu.so")
make_libtorch("${BINARY}/site-packages/torch" 2.14 1)
set(wheel "${BINARY}/site-packages/torch/lib/libtorch_cpu.so")
expect_found("${BINARY}/site-packages/torch/share/cmake" "${wheel}")
expect_found("${BINARY}/site-packages/torch" "${wheel}")
expect_found("${BINARY}/site-packages" "${wheel}")
expect_found("" "${wheel}" "-DTorch_DIR=${BINARY}/site-packages/torch/share/cmake/Torch")

make_libtorch("${BINARY}/too-old" 1.12 1)
expect_refused("${BINARY}/too-old" "${BINARY}/too-old is 1.12.1" "Somatize needs 1.13 or later")

make_libtorch("${BINARY}/old-strings" 2.1 0)
expect_refused("${BINARY}/old-strings" "was built with the old C++ string ABI" "`cxx11-abi` in its name")

make_libtorch("${BINARY}/static" 2.1 1)
file(RENAME "${BINARY}/static/lib/libtorch_cpu.so" "${BINARY}/static/lib/libtorch_cpu.a")
expect_refused("${BINARY}/static" "libtorch_cpu.so is in none of")

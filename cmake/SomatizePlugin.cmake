# SPDX-License-Identifier: Apache-2.0
# somatize_add_plugin(NAME name [TARGET target] [TORCH] SOURCES file...)
#
# Builds the node plugin `name.soma.so` from C or C++ sources. The target is called `target`, or else `name`. The plugin
# exports `soma_plugin_entry` and nothing else. TORCH links libtorch, for a plugin that uses the extension soma.torch/1.

set(SOMATIZE_PLUGIN_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/somatize-plugin.map")

function(somatize_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TORCH" "NAME;TARGET" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "somatize_add_plugin: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME)
    message(FATAL_ERROR "somatize_add_plugin: NAME is missing")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "somatize_add_plugin: plugin `${arg_NAME}` has no SOURCES")
  endif()
  if(NOT arg_TARGET)
    set(arg_TARGET "${arg_NAME}")
  endif()

  add_library(${arg_TARGET} MODULE ${arg_SOURCES})
  target_link_libraries(${arg_TARGET} PRIVATE Somatize::sdk Somatize::abi)
  if(arg_TORCH)
    target_link_libraries(${arg_TARGET} PRIVATE soma::libtorch)
  endif()
  set_target_properties(${arg_TARGET} PROPERTIES
    OUTPUT_NAME "${arg_NAME}"
    PREFIX ""
    SUFFIX ".soma.so"
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    LINK_DEPENDS "${SOMATIZE_PLUGIN_VERSION_SCRIPT}")
  target_link_options(${arg_TARGET} PRIVATE
    "LINKER:--version-script=${SOMATIZE_PLUGIN_VERSION_SCRIPT}"
    "LINKER:--no-undefined"
    "LINKER:-z,now")
endfunction()

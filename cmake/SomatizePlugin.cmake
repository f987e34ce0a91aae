# SPDX-License-Identifier: Apache-2.0
# somatize_add_plugin(NAME name [TARGET target] [TORCH] SOURCES file...)
#
# Builds the node plugin `name.soma.so` from C or C++ sources. The target is called `target`, or else `name`. The plugin
# exports `soma_plugin_entry` and nothing else; a symbol it does not define and no library gives is an error here and
# not at a user's. A plugin all of whose sources are C needs no C++ compiler.
#
# TORCH links libtorch, for a plugin that uses the extension soma.torch/1; from the installed package it takes
# find_package(Somatize COMPONENTS abi sdk torch). Such a plugin says in an ELF note which libtorch it was built with.

# Read inside the function, where the folder of this file is no longer to be had otherwise.
set_property(GLOBAL PROPERTY SOMATIZE_PLUGIN_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/somatize-plugin.map")
set_property(GLOBAL PROPERTY SOMATIZE_TORCH_NOTE "${CMAKE_CURRENT_LIST_DIR}/somatize-torch-note.cpp")

function(somatize_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TORCH" "NAME;TARGET" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "somatize_add_plugin: unknown arguments: ${arg_UNPARSED_ARGUMENTS}; it takes NAME, TARGET, \
TORCH and SOURCES")
  endif()
  if(NOT arg_NAME)
    message(FATAL_ERROR "somatize_add_plugin: NAME is missing, which gives the plugin's file its name")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "somatize_add_plugin: plugin `${arg_NAME}` has no SOURCES")
  endif()
  if(NOT arg_TARGET)
    set(arg_TARGET "${arg_NAME}")
  endif()

  add_library(${arg_TARGET} MODULE ${arg_SOURCES})
  target_link_libraries(${arg_TARGET} PRIVATE Somatize::abi)
  # The SDK is C++; naming it in a project of C alone would ask for a C++ compiler.
  set(cxx_sources ${arg_SOURCES})
  list(FILTER cxx_sources EXCLUDE REGEX "\\.c$")
  if(cxx_sources)
    if(NOT TARGET Somatize::sdk)
      message(FATAL_ERROR "somatize_add_plugin: plugin `${arg_NAME}` has C++ sources and the SDK was not asked for: \
find_package(Somatize COMPONENTS abi sdk)")
    endif()
    target_link_libraries(${arg_TARGET} PRIVATE Somatize::sdk)
  endif()
  if(arg_TORCH)
    if(NOT TARGET soma::libtorch)
      message(FATAL_ERROR "somatize_add_plugin: plugin `${arg_NAME}` links libtorch, which was not asked for: \
find_package(Somatize COMPONENTS abi sdk torch)")
    endif()
    target_link_libraries(${arg_TARGET} PRIVATE soma::libtorch)
    get_property(note GLOBAL PROPERTY SOMATIZE_TORCH_NOTE)
    target_sources(${arg_TARGET} PRIVATE "${note}")
    set_property(GLOBAL APPEND PROPERTY SOMATIZE_TORCH_PLUGIN_TARGETS ${arg_TARGET})
  endif()

  get_property(version_script GLOBAL PROPERTY SOMATIZE_PLUGIN_VERSION_SCRIPT)
  set_target_properties(${arg_TARGET} PROPERTIES
    OUTPUT_NAME "${arg_NAME}"
    PREFIX ""
    SUFFIX ".soma.so"
    DEBUG_POSTFIX ""
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    LINK_DEPENDS "${version_script}")
  # Hidden visibility alone lets the standard library's weak symbols out; the version script does not.
  target_link_options(${arg_TARGET} PRIVATE
    "LINKER:--version-script=${version_script}"
    "LINKER:--no-undefined"
    "LINKER:-z,now")
  set_property(GLOBAL APPEND PROPERTY SOMATIZE_PLUGIN_TARGETS ${arg_TARGET})
endfunction()

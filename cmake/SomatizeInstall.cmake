# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. An installed tree can be moved as a whole: libraries, plugins and templates find one
# another by relative paths, and the package files compute their own prefix.

include(CMakePackageConfigHelpers)

# $ORIGIN alone would hide a libtorch that is not the system's, so link folders outside the system's own stay.
file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(soma_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
set(libraries soma_host)
foreach(target soma_torch soma_simcuda)
  if(TARGET ${target})
    list(APPEND libraries ${target})
  endif()
endforeach()
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
# The build tree has the same layout. Besides, CMake would pad another path with colons, which the loader takes for the
# current directory.
set_target_properties(soma_cli ${libraries} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)

# One export set a component, so that asking for one never brings in another's dependencies.
install(TARGETS soma_abi EXPORT SomatizeAbi)
install(TARGETS soma_sdk EXPORT SomatizeSdk)
install(TARGETS soma_host EXPORT SomatizeHost LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set(components Abi Sdk Host)
if(TARGET soma_torch)
  install(TARGETS soma_torch EXPORT SomatizeTensor LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  list(APPEND components Tensor)
endif()
if(TARGET soma_simcuda)
  # Loaded on request, never linked.
  install(TARGETS soma_simcuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS soma_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
foreach(component IN LISTS components)
  install(EXPORT Somatize${component} NAMESPACE Somatize:: DESTINATION "${SOMATIZE_PACKAGEDIR}")
endforeach()

get_property(shipped GLOBAL PROPERTY SOMATIZE_SHIPPED_PLUGINS)
if(shipped)
  install(TARGETS ${shipped} LIBRARY DESTINATION "${SOMATIZE_PLUGINDIR}")
endif()

foreach(layer abi sdk host)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${layer}/include/soma" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/sdk/templates/" DESTINATION "${SOMATIZE_TEMPLATEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/examples/" DESTINATION "${CMAKE_INSTALL_DATADIR}/somatize/examples"
  FILES_MATCHING PATTERN "*.soma")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/abi/operators.txt" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# In the build tree, templates lie where they will in the installed one.
cmake_path(GET SOMATIZE_TEMPLATEDIR PARENT_PATH template_parent)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/${template_parent}")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/sdk/templates" "${PROJECT_BINARY_DIR}/${SOMATIZE_TEMPLATEDIR}" SYMBOLIC)

# The package for CMake: find_package(Somatize COMPONENTS abi sdk host torch).
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/SomatizeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/SomatizeConfig.cmake"
  INSTALL_DESTINATION "${SOMATIZE_PACKAGEDIR}"
  PATH_VARS SOMATIZE_PLUGINDIR CMAKE_INSTALL_BINDIR)
# Before 1.0 a minor release may break the C++ API; the C ABI has its own version and rules.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/SomatizeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/SomatizeConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/SomatizeConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/SomatizePlugin.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/SomatizeTorch.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/somatize-plugin.map"
  "${PROJECT_SOURCE_DIR}/cmake/somatize-torch-note.cpp"
  DESTINATION "${SOMATIZE_PACKAGEDIR}")

# The package for pkg-config, for a plugin that is one `cc` command.
file(RELATIVE_PATH pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/somatize.pc.in" "${PROJECT_BINARY_DIR}/package/somatize.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/somatize.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

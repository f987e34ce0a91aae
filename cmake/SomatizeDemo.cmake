# SPDX-License-Identifier: Apache-2.0
# `cmake --build BUILD --target demo` runs the main job on the licence texts that every Debian system has.
add_custom_target(demo
  COMMAND soma_cli run "${PROJECT_SOURCE_DIR}/docs/examples/licence.soma" --in /usr/share/common-licenses
  USES_TERMINAL
  VERBATIM
  COMMENT "somatize run docs/examples/licence.soma --in /usr/share/common-licenses")
add_dependencies(demo soma_plugins)
if(TARGET soma_torch)
  add_dependencies(demo soma_torch)
endif()

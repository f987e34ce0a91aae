# SPDX-License-Identifier: Apache-2.0
find_path(SOMATIZE_TORCH_INCLUDE_DIR torch/script.h)
find_library(SOMATIZE_TORCH_LIBRARY torch)
find_library(SOMATIZE_TORCH_CPU_LIBRARY torch_cpu)
find_library(SOMATIZE_C10_LIBRARY c10)
if(NOT TARGET soma::libtorch)
  add_library(soma::libtorch INTERFACE IMPORTED)
  set_target_properties(soma::libtorch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${SOMATIZE_TORCH_INCLUDE_DIR};${SOMATIZE_TORCH_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES "${SOMATIZE_TORCH_LIBRARY};${SOMATIZE_TORCH_CPU_LIBRARY};${SOMATIZE_C10_LIBRARY}")
endif()

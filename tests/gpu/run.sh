#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the checks that need a real NVIDIA GPU, on a machine without package access.
#   tests/gpu/run.sh [FIGURES.json]
# What it needs besides libtorch is gathered beforehand, on Debian 12, by cmake/bundle-deps.sh. libtorch is the one that
# CMAKE_PREFIX_PATH names, else the one in python3's torch.
set -eu
source=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
figures=${1:-$source/build/gpu/figures.json}
bundle=$source/.bundle
[ -d "$bundle/usr" ] || { echo "no $bundle: run cmake/bundle-deps.sh on a Debian 12 machine first" >&2; exit 2; }
prefix=${CMAKE_PREFIX_PATH:-}
[ -n "$prefix" ] || prefix=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
generator='Unix Makefiles'
command -v ninja >/dev/null && generator=Ninja

cmake -S "$source" -B "$source/build/gpu" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DSOMATIZE_TESTS=OFF \
    -DSOMATIZE_GPU_CHECKS=ON -DCMAKE_PREFIX_PATH="$bundle/usr;$prefix" \
    -DLIBELF_INCLUDE_DIR="$bundle/usr/include" -DLIBELF_LIBRARY="$bundle/usr/lib/libelf.so"
cmake --build "$source/build/gpu" -j "$(nproc)" --target gpu_checks soma_cli
LD_LIBRARY_PATH=$bundle/usr/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
mkdir -p "$(dirname -- "$figures")"
checks=$(find "$source/build/gpu" -name gpu_checks -type f | head -n 1)
status=0
"$checks" "$figures" "$source/build/gpu/lib/somatize/plugins" || status=$?
echo "figures: $figures"
[ ! -e "$figures" ] || cat "$figures"
exit $status

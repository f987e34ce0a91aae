#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command where there is no C++ compiler, and no header of C++ or of libtorch; $CC is the C compiler that stays.
#   bare.sh COMMAND...      ends with 77 where this system lets nobody hide anything
set -eu
if [ "${SOMA_TEST_BARE:-}" != inside ]; then
    user=
    [ "$(id -u)" = 0 ] || user=--map-root-user
    # shellcheck disable=SC2086 # nothing at all for root
    unshare $user --mount --propagation private mount --bind /mnt /usr/include 2>/dev/null || exit 77
    # shellcheck disable=SC2086
    SOMA_TEST_BARE=inside exec unshare $user --mount --propagation private sh "$0" "$@"
fi

empty=$(mktemp -d)
trap 'rmdir "$empty"' EXIT
for folder in torch ATen c10 c++; do
    [ ! -d "/usr/include/$folder" ] || mount --bind "$empty" "/usr/include/$folder"
done
for file in /usr/bin/*g++* /usr/bin/c++ /usr/bin/clang++* /usr/local/bin/*g++* /usr/local/bin/c++; do
    # One file may be the C compiler and, by another name, the C++ compiler.
    if [ -x "$file" ] && [ "$(readlink -f "$file")" != "$(readlink -f "$CC")" ]; then
        mount --bind /dev/null "$file"
    fi
done
if command -v c++ || command -v g++ || [ -e /usr/include/torch/csrc ] || [ -e /usr/include/ATen/ATen.h ]; then
    echo "these are not hidden" >&2
    exit 1
fi
"$@"

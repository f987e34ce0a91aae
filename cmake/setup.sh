#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs what the build and all the tests need, on Debian and Ubuntu. Does nothing, and needs no root, when all of it
# is there; on another system it prints what is needed.
#
#   sh cmake/setup.sh           install what is missing
#   sh cmake/setup.sh --list    print the packages, one a line, and change nothing
#
# A libtorch that is not the distribution's is used when CMAKE_PREFIX_PATH leads to it; libtorch-dev is then left out.
set -eu

tools='cmake ninja-build g++ pkgconf ccache'
libraries='libfmt-dev libboost-dev nlohmann-json3-dev tao-pegtl-dev libelf-dev'
engine='libtorch-dev'
tests='catch2 clang binutils abigail-tools valgrind git make'
benchmarks='libbenchmark-dev libtbb-dev'
# Taskflow, which the benchmarks compare with too, is packaged from Debian 13 on.
if command -v apt-cache >/dev/null 2>&1 && apt-cache show libtaskflow-cpp-dev >/dev/null 2>&1; then
  benchmarks="$benchmarks libtaskflow-cpp-dev"
fi
reference='doxygen'
systems='debootstrap' # tests/matrix/run makes other Debian systems with it

# A CMAKE_PREFIX_PATH that holds a libtorch: an unpacked archive, a wheel's `torch` folder or its share/cmake.
own_libtorch() {
  old_ifs=$IFS
  IFS=':;'
  for prefix in ${CMAKE_PREFIX_PATH:-}; do
    for file in "$prefix/share/cmake/Torch/TorchConfig.cmake" "$prefix/Torch/TorchConfig.cmake" \
      "$prefix/torch/share/cmake/Torch/TorchConfig.cmake"; do
      if [ -e "$file" ]; then
        IFS=$old_ifs
        return 0
      fi
    done
  done
  IFS=$old_ifs
  return 1
}

if own_libtorch; then
  engine=''
fi
packages="$tools $libraries $engine $tests $benchmarks $reference $systems"

if [ "${1:-}" = --list ]; then
  # shellcheck disable=SC2086  # one word a package
  printf '%s\n' $packages
  exit 0
fi
if [ $# -gt 0 ]; then
  echo "setup.sh: unknown argument \`$1\`; it takes --list or nothing" >&2
  exit 2
fi

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  cat >&2 <<'END'
setup.sh installs packages on Debian and Ubuntu only. On this system, please install by its own means:
  to build      CMake 3.25, Ninja, a C++20 compiler (g++ 12 or clang 14, or later), pkg-config
  libraries     libtorch 1.13 to 2.14, fmt 9, Boost 1.74 (headers), nlohmann-json 3.11, PEGTL 3.2, libelf
  to test       Catch2 2.13 or 3, clang, binutils, abigail-tools, valgrind, git, make
  optional      Google Benchmark and oneTBB (benchmarks), Doxygen (reference), debootstrap (tests/matrix/run), ccache
A libtorch that lies elsewhere is found through CMAKE_PREFIX_PATH.
END
  # The build says by itself what it misses; a machine that has everything goes on.
  exit 0
fi

missing=''
for package in $packages; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [ "$state" != installed ]; then
    missing="$missing $package"
  fi
done
if [ -z "$missing" ]; then
  exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
  as_root=''
elif command -v sudo >/dev/null 2>&1; then
  as_root='sudo'
else
  echo "setup.sh: missing packages; please install them as root:" >&2
  echo "  apt-get install$missing" >&2
  exit 1
fi

echo "setup.sh: installing$missing"
# shellcheck disable=SC2086  # one word a package, and no word when already root
{
  $as_root apt-get update -q
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the golden binaries of a release from the sources that lie in its folder, and lists them with their sums.
#
#   tests/abi/golden/build.sh MAJOR.MINOR
#
# Once, at the release, on the oldest system that is supported (Debian 12): a binary that is there is never built again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
version=${1:-}
if [ $# -ne 1 ] || [ ! -d "$here/$version" ] || [ -z "$version" ]; then
  echo "usage: tests/abi/golden/build.sh MAJOR.MINOR, of which tests/abi/golden/MAJOR.MINOR holds the sources" >&2
  exit 2
fi
cd "$here/$version"

# As somatize_add_plugin() builds a plugin, small and stripped.
flags="-Os -Wall -Wextra -Wpedantic -Werror -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
-fstack-protector-strong -I$root/abi/include"
link="-shared -s -Wl,--version-script=$root/cmake/somatize-plugin.map -Wl,--no-undefined -Wl,-z,now -Wl,-z,relro
-Wl,-z,noseparate-code -Wl,--gc-sections"

for source in *.c *.cpp; do
  [ -e "$source" ] || continue
  binary=${source%.*}.soma.so
  if [ -e "$binary" ]; then
    echo "build.sh: $version/$binary is there, and is never built again" >&2
    exit 1
  fi
  # shellcheck disable=SC2086  # one word a flag
  case $source in
  *.c) "${CC:-gcc}" -std=c11 $flags $link "$source" -o "$binary" ;;
  *.cpp) "${CXX:-g++}" -std=c++17 -fvisibility-inlines-hidden -I"$root/sdk/include" $flags $link "$source" -o "$binary" ;;
  esac
done

cd "$here"
sha256sum "$version"/* >>SHA256SUMS
tail -n "$(ls "$version" | wc -l)" SHA256SUMS

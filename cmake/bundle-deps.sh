#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gathers what Somatize is built from, besides a compiler, CMake and libtorch, into a folder that can be carried to a
# machine without package access: headers and two libraries, under 40 MB.
#   cmake/bundle-deps.sh [FOLDER]     default: .bundle, which git ignores
set -eu
source=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
bundle=${1:-$source/.bundle}
packages='libfmt-dev nlohmann-json3-dev libelf-dev libelf1 zlib1g libzstd1'
for name in libfmt9 libfmt10 libelf1t64 tao-pegtl-dev libpegtl-dev; do
    if dpkg -s "$name" >/dev/null 2>&1; then packages="$packages $name"; fi
done
for name in libfmt-dev nlohmann-json3-dev libelf-dev libboost-dev; do
    dpkg -s "$name" >/dev/null 2>&1 || { echo "$name is not installed: sh cmake/setup.sh" >&2; exit 1; }
done
rm -rf "$bundle"
mkdir -p "$bundle/usr/lib" "$bundle/usr/include"

# The packages' headers, CMake files and shared libraries, where their CMake files expect each other.
for name in $packages; do
    dpkg -s "$name" >/dev/null 2>&1 || continue
    dpkg -L "$name" | grep -E '^(/usr)?/(include|lib|share/(cmake|pegtl|nlohmann|pkgconfig))' | grep -vE '/python|\.a$' |
        while read -r file; do
            [ -d "$file" ] && [ ! -L "$file" ] && continue
            case $file in /usr/*) to=$bundle$file ;; *) to=$bundle/usr$file ;; esac
            mkdir -p "$(dirname -- "$to")"
            cp -P "$file" "$to"
        done
done
# Boost as a whole is ten times too large: only the headers that the sources reach.
compiler=${CXX:-c++}
grep -rlE '#include <boost/' "$source/host/src" "$source/host/cli" | while read -r file; do
    case $file in *.cpp) ;; *) continue ;; esac
    "$compiler" -std=c++20 -M -DBOOST_DLL_USE_STD_FS -I"$source/host/include" -I"$source/host/src" \
        -I"$source/abi/include" "$file"
done | tr -s ' \\' '\n' | grep '^/usr/include/boost/' | sort -u | while read -r file; do
    mkdir -p "$bundle$(dirname -- "$file")"
    cp "$file" "$bundle$file"
done
mkdir -p "$bundle/usr/include/boost"
cp /usr/include/boost/version.hpp "$bundle/usr/include/boost/"
find /usr/lib -path '*/cmake/*' \( -iname 'Boost-*' -o -iname 'BoostDetectToolset-*' -o -iname 'boost_headers-*' \) \
    -type d | while read -r folder; do
    mkdir -p "$bundle$(dirname -- "$folder")"
    cp -r "$folder" "$bundle$(dirname -- "$folder")/"
done
# Where a run looks for the libraries.
find "$bundle/usr/lib" -mindepth 2 -name 'lib*.so*' | while read -r file; do cp -P "$file" "$bundle/usr/lib/"; done
echo "$bundle: $(du -sm "$bundle" | cut -f1) MB"
[ "$(du -sm "$bundle" | cut -f1)" -lt 40 ] || { echo "that is not under 40 MB" >&2; exit 1; }

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds every plugin that the documentation shows in full, and has the program load it; then runs what the documentation
# runs with it, in a folder where it is alone.
#   plugins.sh FOLDER SOURCE PROGRAM CC CXX
folder=$1 source=$2 program=$3 cc=$4 cxx=$5
flags="-fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror -I$source/abi/include -I$source/sdk/include"
flags="$flags -Wl,--version-script=$source/cmake/somatize-plugin.map -Wl,--no-undefined"
exports_its_entry_alone() {
    [ "$(nm -D --defined-only --format=posix "$1" | cut -d ' ' -f 1)" = soma_plugin_entry ]
}
PATH=$(dirname "$program"):$PATH
export PATH
runs_as_shown() {
    [ -e "$1.sh" ] || return 0
    (cd "$1" && timeout 120 sh -e "$1.sh" >"$1.got" </dev/null) || return 1
    [ ! -e "$1.out" ] || diff -u "$1.out" "$1.got"
}
ran=0 failed=0
for plugin in "$folder"/*.c "$folder"/*.cpp; do
    [ -e "$plugin" ] || continue
    ran=$((ran + 1))
    name=${plugin%.*}
    built=$name/$(basename "$name").soma.so
    rm -rf "$name"
    mkdir "$name"
    case $plugin in
    *.c) compile="$cc -std=c11" ;;
    *) compile="$cxx -std=c++17" ;;
    esac
    # shellcheck disable=SC2086 # the flags are words
    if ! $compile $flags "$plugin" -o "$built" || ! "$program" inspect "$built" ||
        ! exports_its_entry_alone "$built" || ! runs_as_shown "$name"; then
        echo "FAILED: $(basename "$plugin")"
        failed=$((failed + 1))
    fi
done
echo "$ran plugins, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]

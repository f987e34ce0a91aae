#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every command that the documentation shows, and compares what it prints where the documentation shows that too.
#   commands.sh FOLDER SOURCE PROGRAM
folder=$1 source=$2
PATH=$(dirname "$3"):$PATH
export PATH
cd "$source" || exit 1
ran=0 failed=0
for script in "$folder"/*.sh; do
    [ -e "$script" ] || continue
    # Setting up and building is what this test is part of.
    if grep -q 'cmake --workflow' "$script"; then continue; fi
    ran=$((ran + 1))
    if ! timeout 120 sh -e "$script" >"$script.got" 2>"$script.err" </dev/null; then
        echo "FAILED: $(basename "$script")"; cat "$script" "$script.err"
        failed=$((failed + 1))
    elif [ -e "${script%.sh}.out" ] && ! diff -u "${script%.sh}.out" "$script.got"; then
        echo "DIFFERS: $(basename "$script")"; cat "$script"
        failed=$((failed + 1))
    fi
done
echo "$ran commands, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]

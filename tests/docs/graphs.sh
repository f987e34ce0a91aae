#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks every graph that the documentation shows.
#   graphs.sh FOLDER PROGRAM
ran=0 failed=0
for graph in "$1"/*.soma; do
    [ -e "$graph" ] || continue
    ran=$((ran + 1))
    "$2" check "$graph" || failed=$((failed + 1))
done
echo "$ran graphs, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]

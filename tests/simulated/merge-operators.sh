#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes operators.txt of what `SOMATIZE_OPERATORS=FILE simulated_operators` wrote with several versions of libtorch:
#
#   sh merge-operators.sh 1.13=FILE 2.6=FILE 2.14=FILE > operators.txt
#
# An operator is in the list when all versions have it, with arguments that differ at most by ones with a default at
# the end.
set -eu

for pair; do
  sed "s/^/${pair%%=*}\t/" "${pair#*=}"
done | awk -F '\t' -v versions="$(for pair; do printf '%s ' "${pair%%=*}"; done)" '
  function compatible(one, other,    a, b, n, m, i) {
    if (substr(one, index(one, ">")) != substr(other, index(other, ">"))) return 0
    n = split(substr(one, 1, index(one, ">") - 1), a, ";") - 1
    m = split(substr(other, 1, index(other, ">") - 1), b, ";") - 1
    for (i = 1; i <= n || i <= m; ++i) {
      if (i <= n && i <= m) {
        sub(/=$/, "", a[i]); sub(/=$/, "", b[i])
        if (a[i] != b[i]) return 0
      } else if ((i <= n ? a[i] : b[i]) !~ /=$/) return 0
    }
    return 1
  }
  { signature[$1, $2] = $3; result[$1, $2] = $4; names[$2] = 1 }
  $4 == "pass" { ++passed[$1] }
  END {
    count = split(versions, version, " ")
    for (name in names) {
      common = 1; differs = 0; columns = ""
      for (v = 1; v <= count && common; ++v) {
        if (!((version[v], name) in signature)) common = 0
        else if (v > 1) {
          if (!compatible(signature[version[1], name], signature[version[v], name])) common = 0
          if (result[version[v], name] != result[version[1], name]) differs = 1
        }
        columns = columns (v > 1 ? " | " : "") version[v] " " result[version[v], name]
      }
      if (!common) continue
      ++total
      for (v = 1; v <= count; ++v) passes[v] += result[version[v], name] == "pass"
      lines[total] = name " " (differs ? columns : result[version[1], name])
    }
    print "# The public aten overloads that libtorch " versions "have in common, and what each does on a simulated device."
    print "# Made by merge-operators.sh; checked by operators_test.cpp. Where the versions differ, each has its own answer."
    for (v = 1; v <= count; ++v) print "# " passes[v] " of " total " pass on " version[v] "."
    for (line = 1; line <= total; ++line) print lines[line] | "LC_ALL=C sort"
  }'

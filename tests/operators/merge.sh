#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes a list of what `SOMATIZE_OPERATORS=FILE PROGRAM` wrote with several versions of libtorch:
#
#   sh merge.sh interface 1.13=FILE 2.6=FILE 2.14=FILE > abi/operators.txt                   (operators_interface)
#   sh merge.sh simulated 1.13=FILE 2.6=FILE 2.14=FILE > tests/simulated/operators.txt       (simulated_operators)
#
# An operator is in the list when all versions have it, with arguments that differ at most by ones with a default at
# the end; in that of the interface, only when it passed with all.
set -eu

list=$1
shift
case $list in
interface | simulated) ;;
*)
  echo "merge.sh: \`$list\` is no list: interface or simulated" >&2
  exit 2
  ;;
esac

for pair; do
  sed "s/^/${pair%%=*}\t/" "${pair#*=}"
done | awk -F '\t' -v list="$list" -v versions="$(for pair; do printf '%s ' "${pair%%=*}"; done)" '
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
  function readable(arguments) {
    sub(/;?>[0-9]+$/, "", arguments)
    gsub(/;/, ", ", arguments)
    return "(" arguments ")"
  }
  { signature[$1, $2] = $3; result[$1, $2] = $4; names[$2] = 1 }
  $4 == "pass" { ++passed[$1] }
  END {
    count = split(versions, version, " ")
    listed = versions
    sub(/ $/, "", listed)
    gsub(/ /, ", ", listed)
    sub(/, [^,]*$/, " and" substr(listed, match(listed, /, [^,]*$/) + 1), listed)
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
      if (list == "interface") {
        for (v = 1; v <= count; ++v) if (result[version[v], name] != "pass") common = 0
        if (common) lines[++total] = name " " readable(signature[version[1], name])
        continue
      }
      ++total
      for (v = 1; v <= count; ++v) passes[v] += result[version[v], name] == "pass"
      lines[total] = name " " (differs ? columns : result[version[1], name])
    }
    if (list == "interface") {
      print "# The " total " operators that a plugin may call on every libtorch that the host supports: each gave through the"
      print "# interface what it gives directly, with libtorch " listed " alike. A line is the name, with its overload after a"
      print "# dot, and the arguments; `=` follows those that may be left out. Newer versions may have more, at the end."
      print "# Made by tests/operators/merge.sh of three test runs; tested by every build."
    } else {
      print "# The public aten overloads that libtorch " listed " have in common, and what each does on a simulated device."
      print "# Made by tests/operators/merge.sh; checked by operators_test.cpp. Where the versions differ, each has its own answer."
      for (v = 1; v <= count; ++v) print "# " passes[v] " of " total " pass on " version[v] "."
    }
    for (line = 1; line <= total; ++line) print lines[line] | "LC_ALL=C sort"
  }'

#!/bin/sh
# Runs the node on a device and looks at what it gives and where that is.
#   sh test.sh PROGRAM PLUGIN DEVICE      such as: sh test.sh somatize build/plugin_name.soma.so meta
set -eu
program=$1 plugin=$2 device=$3

# No machine has every device: the second of two simulated ones is as good for this as a real one.
simulate=
case $device in
cuda:*) simulate='--simulate=cuda:2' ;;
esac

# The program itself fails when the node returns anything that is not on its device, and says what.
# shellcheck disable=SC2086 # nothing at all when there is nothing to simulate
result=$("$program" run 'plugin_name.scale(by=3.0)' --plugins "$plugin" --place "scale=$device" $simulate \
    --in '{"tensor": [1.0, -2.0]}' --json)

expect() {
    case $result in
    *"$1"*) ;;
    *)
        printf 'expected %s in\n%s\n' "$1" "$result" >&2
        exit 1
        ;;
    esac
}
expect "\"result\": \"tensor float32[2] on $device\""
# On meta there are shapes and no numbers.
[ "$device" = meta ] || expect '"tensor": [3.0, -6.0]'

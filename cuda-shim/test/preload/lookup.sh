#!/bin/sh
# The ways to the driver, and those of other libraries, with the library in the process.
#   lookup.sh LIBRARY LOOKUP_PROGRAM PROFILER WRAPPED_PROGRAM WRAPPER FAKE_DIRECTORY
set -eu
lib=$1 program=$2 profiler=$3 wrapped=$4 wrapper=$5 fake=$6

plain=$("$wrapped" zz)
expected=$(echo "$plain" | awk '{ print $1 + 1000, $2 + 1000 }')
for preload in "$wrapper" "$lib:$wrapper" "$wrapper:$lib"; do
  said=$(LD_PRELOAD=$preload "$wrapped" zz)
  [ "$said" = "$expected" ] || { echo "with $preload: $said, not $expected" >&2; exit 1; }
done
LD_LIBRARY_PATH=$fake LD_PRELOAD=$lib "$program" "$profiler"

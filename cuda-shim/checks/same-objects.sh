#!/bin/sh
# The simulator proves something only if it runs the library's own code.  same-objects.sh SIMULATOR LIBRARY "OBJECT…"
# Each function of the objects must be in both, and both must have been linked from these very objects: same code, same size.
set -eu
export LC_ALL=C
simulator=$1 library=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
functions() { nm -S --defined-only "$@" | awk 'NF == 4 && ($3 == "T" || $3 == "t") { print $4, $2 }' | sort; }
# shellcheck disable=SC2086 # a list of paths
nm -S --defined-only $3 | awk 'NF == 4 && $3 == "T" { print $4, $2 }' | sort > "$scratch/objects"
[ "$(wc -l < "$scratch/objects")" -ge 30 ] || { echo "too few functions: this check reads nothing" >&2; exit 1; }
bad=0
for program in "$simulator" "$library"; do
  functions "$program" > "$scratch/program"
  # the linker drops what the library never calls, never what it does
  comm -23 "$scratch/objects" "$scratch/program" > "$scratch/missing"
  while read -r name size; do
    other=$(awk -v n="$name" '$1 == n { print $2 }' "$scratch/program")
    if [ -n "$other" ]; then echo "$program: $name has size $other, the object's has $size" >&2; bad=1; fi
    if [ -z "$other" ] && [ "$program" = "$simulator" ]; then echo "$program: no $name" >&2; bad=1; fi
  done < "$scratch/missing"
done
[ "$(nm "$library" | grep -c ' [Tt] pace_admit$')" = 1 ] || { echo "$library: pace_admit is not in it" >&2; bad=1; }
exit $bad

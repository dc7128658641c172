#!/bin/sh
# The layout of a published version never changes.   abi-frozen.sh ABI_DUMP FOLDER
# FOLDER holds one abi-MAJOR.MINOR.txt for each version there was: the present one is exactly abi-dump's output, and of
# the older minors of this major every name keeps its value, but for names of reserved bytes, which later fields may take,
# and for the set of all flags, which grows.
set -eu
dump=$("$1")
value() { echo "$dump" | sed -n "s/^$1 //p"; }
major=$(value VGPU_ABI_MAJOR) minor=$(value VGPU_ABI_MINOR)
present=$2/abi-$major.$minor.txt
[ -f "$present" ] || { echo "no $present: a new version needs its own file" >&2; exit 1; }
[ "$(wc -l <"$present")" -gt 150 ] || { echo "$present is too short to be a layout" >&2; exit 1; }
echo "$dump" | diff "$present" - >&2 || { echo "the layout changed: raise VGPU_ABI_MINOR and add abi-$major.$((minor + 1)).txt" >&2; exit 1; }
i=0
while [ "$i" -lt "$minor" ]; do
  grep -v 'reserved\|^VGPU_ABI_MINOR \|^VGPU_LIMIT_KNOWN_FLAGS ' "$2/abi-$major.$i.txt" | while read -r line; do
    echo "$dump" | grep -qxF "$line" || { echo "abi-$major.$i.txt says: $line" >&2; exit 1; }
  done
  i=$((i + 1))
done

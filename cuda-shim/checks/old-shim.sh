#!/bin/sh
# A library of an earlier release beside an agent of this one: containers keep the library that they were started with, while
# the regions are written as they are now.   old-shim.sh BUILD_FOLDER [COMMIT]
# Builds the library as it was at COMMIT (the last one of ABI 1.0) and lets today's tests of shares run under it: those whose
# promises that release made. Wants the repository's history.
set -eu
build=$(cd "$1" && pwd)
commit=${2:-6fb2240~1}
here=$(cd "$(dirname "$0")/.." && pwd)
git -C "$here" cat-file -e "$commit^{commit}" 2>/dev/null || { echo "no commit $commit: this wants the whole history" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/old-shim.XXXXXX")
trap 'rm -rf "$work"' EXIT
git -C "$here" archive "$commit" . | tar -x -C "$work"
cmake -S "$work" -B "$work/build" >"$work/log" 2>&1 && cmake --build "$work/build" --target vgpu-control -j2 >>"$work/log" 2>&1 ||
  { tail -20 "$work/log" >&2; exit 1; }
old=$work/build/libvgpu-control.so
strings "$old" | grep -m1 ' abi ' || { echo "$old does not say its ABI" >&2; exit 1; }
for case in alone none two balance; do
  echo "== $case"
  "$here/test/unit/on_cards.sh" "old-$case" "$build/pace-share" "$old" "$build/pace-tenant" "$build/pace-family" "$case"
done

#!/bin/sh
# The symbols that a library defines for others are exactly those listed, one a line.  exports.sh LIBRARY LIST
set -eu
found=$(nm -D --defined-only --format=posix "$1" | cut -d' ' -f1 | LC_ALL=C sort)
listed=$(LC_ALL=C sort "$2")
[ -n "$listed" ] || { echo "$2 lists nothing" >&2; exit 1; }
if [ "$found" != "$listed" ]; then
  echo "$1 exports other symbols than $2 lists" >&2
  printf 'exported:\n%s\nlisted:\n%s\n' "$found" "$listed" >&2
  exit 1
fi
echo "$found" | wc -l

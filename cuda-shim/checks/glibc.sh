#!/usr/bin/env bash
# The newest version of glibc's symbols that PROGRAM needs must not be newer than MOST: glibc.sh PROGRAM MOST
set -euo pipefail
needed=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
newest=$(printf '%s\nGLIBC_%s\n' "$needed" "$2" | sort -V | tail -1)
echo "$1 needs $needed"
[ "$newest" = "GLIBC_$2" ]

#!/bin/sh
# Compares nvml.def and nvml_types.h with NVIDIA's own nvml.h: every signature, size, offset and value.
#   headers.sh WORK_DIR         fetches the header with pip into WORK_DIR, unless NVML_HEADER names one
# Fails when anything differs and when a row was not compared.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
version=12.9.79
mkdir -p "$1"
cd "$1"

header=${NVML_HEADER:-}
if [ -z "$header" ]; then
  header=$PWD/nvidia/nvml_dev/include/nvml.h
  if [ ! -f "$header" ]; then
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest . "nvidia-nvml-dev-cu12==$version"
    python3 -m zipfile -e nvidia_nvml_dev_cu12-"$version"-*.whl .
  fi
fi
[ -f "$header" ] || { echo "$header: no such header" >&2; exit 1; }

# 1. signatures
cat >signatures.c <<C
#include <stdio.h>
#include "$header"
static int compared;
int main(void) {
#define COMPARE(name, result, params)                                                                  \\
  {                                                                                                    \\
    typedef result wanted params;                                                                      \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), wanted), #name ": other signature"); \\
    compared++;                                                                                        \\
  }
#define NVML_ROW(name, params, args) COMPARE(name, nvmlReturn_t, params)
#define NVML_DEV NVML_ROW
#define NVML_OPEN NVML_ROW
#define NVML_TEXT(name, params, args) COMPARE(name, const char *, params)
#include "$here/src/nvml.def"
  printf("%d\n", compared);
  return 0;
}
C
cc -std=c11 -o signatures signatures.c
rows=$(grep -c '^NVML_[A-Z]*(' "$here/src/nvml.def")
compared=$(./signatures)
[ "$rows" -gt 0 ] && [ "$rows" = "$compared" ] || { echo "$compared of $rows rows of nvml.def compared" >&2; exit 1; }

# 2. layouts and values: one program, written from nvml_types.h, compiled against either header
types=$here/src/nvml_types.h
{
  awk '/^typedef struct \{/ { inside = 1; n = 0; next }
       inside && /^}/ { gsub(/[};]/, ""); type = $1; print "SIZE(" type ")"
                        for (i = 0; i < n; i++) print "FIELD(" type ", " field[i] ")"; inside = 0; next }
       inside { sub(/;.*/, ""); sub(/\[.*/, ""); field[n++] = $NF }' "$types"
  grep -o 'NVML_[A-Z0-9_]* = ' "$types" | sed 's/\(.*\) = /VALUE(\1)/'
  sed -n 's/^#define \(NVML_[A-Z0-9_]*\|nvmlEventType[A-Za-z]*\) .*/VALUE(\1)/p' "$types"
} >layout.list
cat >layout.c <<'C'
#include <stddef.h>
#include <stdio.h>
#include HEADER
#define SIZE(type) printf("%s %zu\n", #type, sizeof(type));
#define FIELD(type, field) printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define VALUE(name) printf("%s %llu\n", #name, (unsigned long long)(name));
int main(void) {
#include "layout.list"
  return 0;
}
C
cc -std=c11 -o layout-ours "-DHEADER=\"$types\"" layout.c
# two names are ours alone: the first is NVML's under another name, the second is only told in a comment there
cc -std=c11 -o layout-real "-DHEADER=\"$header\"" -DNVML_MEMORY_V2=nvmlMemory_v2 -DNVML_NO_INSTANCE=0xFFFFFFFFu layout.c
./layout-ours >layout-ours.txt
./layout-real >layout-real.txt
diff layout-ours.txt layout-real.txt >&2 || { echo "nvml_types.h differs from $header" >&2; exit 1; }
facts=$(wc -l <layout-ours.txt)
[ "$facts" -ge 110 ] || { echo "only $facts facts found in nvml_types.h: this check does not read it any more" >&2; exit 1; }
echo "$rows signatures and $facts layouts and values as in $header"

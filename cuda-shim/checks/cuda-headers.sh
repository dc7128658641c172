#!/bin/sh
# Compares hooks.def, cuda_types.h and nvml_view_types.h with NVIDIA's own headers of several versions: every signature,
# size, offset and value.   cuda-headers.sh WORK_DIR
# The headers come once from PyPI into ~/.cache/vgpu-manager/cuda-headers (or CUDA_HEADERS_CACHE). Without network and
# without cache: a failure where CI=true, else exit 77, which says loudly that nothing was compared.
# Fails when anything differs and when a row or a fact was compared with no version at all.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${CUDA_HEADERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vgpu-manager/cuda-headers}
rm -rf "$1"
mkdir -p "$1" "$cache"
cd "$1"
export LC_ALL=C

# package==version header
wanted='
nvidia-cuda-runtime-cu11==11.8.89 cuda.h
nvidia-cuda-runtime-cu12==12.4.127 cuda.h
nvidia-cuda-runtime-cu12==12.9.79 cuda.h
nvidia-cuda-runtime==13.0.88 cuda.h
nvidia-cuda-runtime==13.5.37 cuda.h
nvidia-nvml-dev-cu11==11.8.86 nvml.h
nvidia-nvml-dev-cu12==12.9.79 nvml.h
nvidia-nvml-dev==13.5.37 nvml.h
'

fetch() { # package==version header: the header's path, fetched if need be
  dir=$cache/$(echo "$1" | tr -s '=' '-')
  if [ ! -f "$dir/$2" ]; then
    mkdir -p fetched
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest fetched "$1" >pip.log 2>&1 || return 1
    wheel=$(ls fetched/*.whl)
    python3 -m zipfile -e "$wheel" fetched/unpacked
    mkdir -p "$dir"
    # by another name first: two runs at once must not see half a header
    cp "$(find fetched/unpacked -name "$2")" "$dir/$2.$$"
    mv "$dir/$2.$$" "$dir/$2"
    rm -rf fetched
  fi
  echo "$dir/$2"
}

# ---- what has to be compared, one fact a line

facts() { # types header: SIZE, FIELD and VALUE lines
  awk '/^typedef struct \{/ { inside = 1; n = 0; depth = 1; next }
       inside && /\{$/ { depth++; next }
       inside && /^ +\}/ { if (--depth == 1) { gsub(/[ };]/, ""); field[n++] = $0 } next }
       inside && /^}/ { gsub(/[};]/, ""); type = $1; print "SIZE(" type ")"
                        for (i = 0; i < n; i++) print "FIELD(" type ", " field[i] ")"; inside = 0; next }
       inside && depth == 1 { sub(/;.*/, ""); sub(/\[.*/, ""); sub(/.*[ *]/, ""); if ($0 !~ /^reserved/) field[n++] = $0 }' "$1"
  grep -o '\(CU\|CUDA\|NVML\)_[A-Z0-9_]* = ' "$1" | sed 's/\(.*\) = /VALUE(\1)/'
  sed -n 's/^#define \(CUDA_ARRAY3D_[A-Z_]*\) .*/VALUE(\1)/p' "$1"
}
# names that are ours alone
facts "$here/src/cuda_types.h" >cuda.h.facts
facts "$here/src/nvml_view_types.h" | sed 's/nvmlProcessDetailList_t/nvmlProcessDetailList_v1_t/; s/nvmlProcessesUtilizationInfo_t/nvmlProcessesUtilizationInfo_v1_t/' >nvml.h.facts
sed -n 's/^CU(\([^,]*\),[^,]*,[^,]*,[^,]*,[^,]*, \(([^()]*)\), .*/SIGNATURE(\1, \2)/p' "$here/src/hooks.def" >>cuda.h.facts
sed -n '/, PRIVATE,/d; s/^NV(\([^,]*\),[^,]*, \(([^()]*)\), .*/SIGNATURE(\1, \2)/p' "$here/src/hooks.def" >>nvml.h.facts
rows=$(grep -E '^(CU|NV)\(' "$here/src/hooks.def" | grep -vc ', PRIVATE,') # those are in no header
signatures=$(cat cuda.h.facts nvml.h.facts | grep -c '^SIGNATURE')
[ "$rows" -gt 100 ] && [ "$rows" = "$signatures" ] || { echo "$signatures of $rows rows of hooks.def found" >&2; exit 1; }
[ "$(grep -c '^FIELD' cuda.h.facts)" -ge 50 ] || { echo "too few fields found in cuda_types.h: this check does not read it any more" >&2; exit 1; }

cat >frame.h <<'C'
#include <stddef.h>
#include <stdio.h>
#define SIZE(type) printf("%s %zu\n", #type, sizeof(type));
#define FIELD(type, field) printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define VALUE(name) printf("%s %lld\n", #name, (long long)(name));
#define SIGNATURE(name, params)                                                               \
  {                                                                                           \
    typedef RESULT wanted params;                                                             \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), wanted), #name " differs"); \
    printf("%s\n", #name);                                                                    \
  }
C

program() { # facts headers...: a program that prints them
  list=$1
  shift
  for header; do echo "#include \"$header\""; done
  echo '#include "frame.h"'
  echo 'int main(void) {'
  echo '#line 1 "facts"'
  cat "$list"
  echo '  return 0; }'
}

# ---- our own word on them
for kind in cuda nvml; do
  grep -v '^SIGNATURE' $kind.h.facts >ours.facts
  program ours.facts "$here/src/cuda_types.h" "$here/src/nvml_view_types.h" | sed 's/^#include "frame.h"/typedef nvmlProcessDetailList_t nvmlProcessDetailList_v1_t; typedef nvmlProcessesUtilizationInfo_t nvmlProcessesUtilizationInfo_v1_t;\n&/' >ours.c
  cc -std=gnu11 -w -o ours ours.c
  ./ours | sort -u >$kind.h.ours
done

# ---- against each version; a fact that a version does not know is left out there
: >compared
compare() { # header kind
  grep . "$2.facts" >here.facts
  for attempt in 1 2 3; do
    # what is declared otherwise than we say must fail; what is not declared is no error of ours
    program here.facts "$1" >real.c
    if cc -std=gnu11 -w -fmax-errors=0 -ffreestanding -D__CUDA_API_VERSION_INTERNAL -DNVML_NO_UNVERSIONED_FUNC_DEFS "-DRESULT=$3" -c -o real.o real.c 2>errors; then
      cc -std=gnu11 -w -D__CUDA_API_VERSION_INTERNAL -DNVML_NO_UNVERSIONED_FUNC_DEFS "-DRESULT=$3" -Wl,--unresolved-symbols=ignore-all -o real real.c
      ./real | sort -u >real.txt
      comm -12 real.txt "$2.ours" >same.txt
      grep ' ' real.txt | comm -23 - same.txt >other.txt || true
      if [ -s other.txt ]; then
        echo "$1 says otherwise than we do:" >&2
        cat other.txt >&2
        return 1
      fi
      cat real.txt >>compared
      echo "$(grep -c . real.txt) facts as in $1"
      return 0
    fi
    if grep -E 'static assertion failed' errors >&2; then
      echo "$1: a signature differs" >&2
      return 1
    fi
    sed -n 's/^facts:\([0-9]*\):.*/\1d/p' errors | sort -u >drop.sed
    [ -s drop.sed ] || { cat errors >&2; return 1; }
    # a function may be left out only where the version has none of that name
    sed -n "$(sed 's/d$/p/' drop.sed)" here.facts | sed -n 's/^SIGNATURE(\([^,]*\),.*/\1/p' >dropped
    cc -E -P -D__CUDA_API_VERSION_INTERNAL -DNVML_NO_UNVERSIONED_FUNC_DEFS "$1" | grep -oE '\b(cu|nvml)[A-Z]\w* *\(' | tr -d ' (' | sort -u >declared
    sort -u dropped | comm -12 - declared >wrong
    if [ -s wrong ]; then
      echo "$1 declares these, but they were not compared:" >&2
      cat wrong >&2
      return 1
    fi
    sed -f drop.sed here.facts >left.facts
    mv left.facts here.facts
  done
  echo "$1: still does not compile" >&2
  return 1
}

echo "$wanted" | grep . >list
while read -r package header; do
  if ! path=$(fetch "$package" "$header"); then
    echo "NOT COMPARED: $package is neither in $cache nor to be fetched" >&2
    if [ "${CI:-}" = true ]; then exit 1; else exit 77; fi
  fi
  case $header in cuda.h) result=CUresult ;; *) result=nvmlReturn_t ;; esac
  compare "$path" "$header" $result
done <list

# ---- nothing may be left over
cat cuda.h.ours nvml.h.ours | sort -u >expected
sed -n 's/^SIGNATURE(\([^,]*\),.*/\1/p' cuda.h.facts nvml.h.facts | sort -u >>expected
sort -u expected -o expected
sort -u compared -o compared
if [ -n "$(comm -23 expected compared)" ]; then
  echo "compared with no version:" >&2
  comm -23 expected compared >&2
  exit 1
fi
echo "$rows signatures and $(cat cuda.h.ours nvml.h.ours | wc -l) layouts and values compared"

#!/bin/sh
# Compares test/fake/cuda/extra.def with the function types that NVIDIA publishes: every row's base name must have a type of
# that version and flavour.   fake-versions.sh WORK_DIR
# The header comes once from PyPI into the cache of cuda-headers.sh; without network and cache it is said and skipped (77),
# a failure where CI=true.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
package=nvidia-cuda-runtime==13.5.37
cache=${CUDA_HEADERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vgpu-manager/cuda-headers}/$(echo $package | tr -s '=' '-')
export LC_ALL=C
rm -rf "$1"
mkdir -p "$1" "$cache"
cd "$1"
if [ ! -f "$cache/cudaTypedefs.h" ]; then
  if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest fetched $package >pip.log 2>&1; then
    echo "$package could not be fetched: NOTHING WAS COMPARED" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
  fi
  python3 -m zipfile -e "$(ls fetched/*.whl)" fetched/unpacked
  cp "$(find fetched/unpacked -name cudaTypedefs.h)" "$cache/cudaTypedefs.h.$$"
  mv "$cache/cudaTypedefs.h.$$" "$cache/cudaTypedefs.h"
fi
# base since THREAD or nothing, one a line
grep -o 'PFN_cu[A-Za-z0-9]*_v[0-9]*\(_ptsz\|_ptds\)\?)' "$cache/cudaTypedefs.h" |
  sed 's/PFN_\(cu.*\)_v\([0-9]*\))/\1 \2/; s/PFN_\(cu.*\)_v\([0-9]*\)_pt[ds][sz])/\1 \2 THREAD/' | sort -u >published
# No types of the profiler's are published; from CUDA 12 on, cuGraphInstantiate means cuGraphInstantiateWithFlags.
sed -n 's/^EX(\([^,]*\), \([^,]*\), \([0-9]*\), \([A-Z]*\))$/\1 \2 \3 \4/p' "$here/test/fake/cuda/extra.def" |
  grep -v -e '^cuProfiler' -e '^cuGraphInstantiateWithFlags cuGraphInstantiate 12000' |
  sed 's/^[^ ]* //; s/ \(NONE\|LEGACY\)$//' | sort -u >stated
missing=$(comm -23 stated published)
if [ -n "$missing" ] || [ ! -s stated ]; then
  printf 'no function type is published for:\n%s\n' "$missing" >&2
  exit 1
fi
wc -l <stated

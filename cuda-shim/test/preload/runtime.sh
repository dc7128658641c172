#!/bin/sh
# NVIDIA's CUDA runtimes of several versions on the fake driver with the library preloaded.
#   runtime.sh LIBRARY PROGRAM FAKE_DIRECTORY
# The runtimes come once from PyPI, as the headers do (checks/cuda-headers.sh). Without them exit 77; with CI=true a failure.
set -eu
lib=$1 program=$2 fake=$3
cache=${CUDA_HEADERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vgpu-manager/cuda-headers}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # package==version: the runtime's path
  dir=$cache/$(echo "$1" | tr -s '=' '-')
  if ! ls "$dir"/libcudart.so.* >/dev/null 2>&1; then
    rm -rf "$work/fetched"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work/fetched" "$1" >"$work/pip.log" 2>&1 || return 1
    python3 -m zipfile -e "$work"/fetched/*.whl "$work/fetched/unpacked"
    mkdir -p "$dir"
    found=$(find "$work/fetched/unpacked" -name 'libcudart.so.*')
    cp "$found" "$dir/.new.$$"
    mv "$dir/.new.$$" "$dir/$(basename "$found")"
  fi
  ls "$dir"/libcudart.so.*
}

for package in nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.9.79 \
  nvidia-cuda-runtime==13.0.88 nvidia-cuda-runtime==13.5.37; do
  if ! runtime=$(fetch "$package"); then
    echo "NOT RUN: $package is neither in $cache nor to be fetched" >&2
    [ "${CI:-}" = true ] && exit 1 || exit 77
  fi
  LD_PRELOAD=$lib LD_LIBRARY_PATH=$fake "$program" "$runtime"
done

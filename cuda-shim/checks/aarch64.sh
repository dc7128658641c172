#!/bin/sh
# The library for aarch64: built here by a cross compiler, checked as the native one is, and run under qemu-user on the fakes.
#   aarch64.sh SOURCE_DIR BUILD_DIR
# Exit 77 where compiler or emulator is missing (Debian: gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user); with CI=true
# a failure.
set -eu
source=$1 build=$2
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v $tool >/dev/null && continue
  echo "NOT BUILT FOR AARCH64: there is no $tool" >&2
  [ "${CI:-}" = true ] && exit 1 || exit 77
done
log=$build.log
mkdir -p "$build"
{
  cmake -S "$source" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$source/cmake/aarch64.cmake" &&
    cmake --build "$build" --target vgpu-control fake-cuda fake-nvml shim-memory shim-pool shim-process shim-table \
      preload-lookup preload-profiler preload-wrapper preload-wrapped
} >"$log" 2>&1 || { tail -40 "$log" >&2; exit 1; }
lib=$build/libvgpu-control.so
"$source/checks/guest.sh" "$lib"
"$source/checks/exports.sh" "$lib" "$build/control.names" >/dev/null

run() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"; }
for test in memory pool process table; do
  run "$build/shim-$test" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
done
plain=$(run "$build/preload-wrapped" zz)
expected=$(echo "$plain" | awk '{ print $1 + 1000, $2 + 1000 }')
wrapper=$build/libpreload-wrapper.so
for preload in "$wrapper" "$lib:$wrapper" "$wrapper:$lib"; do
  said=$(run -E LD_PRELOAD="$preload" "$build/preload-wrapped" zz)
  [ "$said" = "$expected" ] || { echo "with $preload: $said, not $expected" >&2; exit 1; }
done
"$source/test/unit/on_cards.sh" aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_PRELOAD="$lib" \
  -E LD_LIBRARY_PATH="$build/fake" "$build/preload-lookup" "$build/libpreload-profiler.so"
echo "aarch64: $(file -b "$lib" 2>/dev/null | cut -c1-40) checked and run"

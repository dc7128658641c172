#!/bin/sh
# A program on the fake driver under limits, as told from inside and as seen from outside.
#   limited.sh LIBRARY PROGRAM MAKE_LIMITS FAKE_GPU FAKE_DIRECTORY
set -eu
lib=$1 program=$2 make_limits=$3 fake_gpu=$4 fake=$5
dir=$(mktemp -d)
holder=
trap '[ -z "$holder" ] || kill -9 "$holder" 2>/dev/null || :; rm -rf "$dir"' EXIT
card=GPU-02000200-0000-0000-0000-000000000000
export LD_LIBRARY_PATH="$fake" CUDA_VISIBLE_DEVICES=0
say() { echo "limited.sh: $*" >&2; exit 1; }
under() { LD_PRELOAD=$lib CUDA_SHIM_CONFIG_DIR=$dir/main "$program" "$@"; }
used() { "$fake_gpu" --state "$FAKE_GPUS_STATE" cards | awk '$1 == 0 { print $4 }'; }
peak() { "$fake_gpu" --state "$FAKE_GPUS_STATE" cards | awk '$1 == 0 { print $5 }'; }

"$program" card >/dev/null || say "the fake alone"
LD_PRELOAD=$lib "$program" card >/dev/null || say "without limits the card is the card"
CUDA_SHIM_DISABLE=1 under card >/dev/null || say "switched off, outside a container"
under refused >/dev/null 2>"$dir/log" || say "a directory that is not there fails closed"
[ "$(wc -l <"$dir/log")" = 1 ] || say "one line about it, not: $(cat "$dir/log")"

mkdir "$dir/main"
"$make_limits" "$dir/main" "$card" 1024
under memory || say "1024 MiB"
[ "$(peak)" -le $((1024 << 20)) ] || say "the card gave $(peak) bytes"
[ "$(peak)" -gt $((1000 << 20)) ] || say "the card gave only $(peak) bytes: this shows nothing"

# without files: by the names of the environment, for each process alone
named() { LD_PRELOAD=$lib env "$@"; }
[ "$(named CUDA_MEM_LIMIT=1G "$program" fill)" = 504 ] || say "CUDA_MEM_LIMIT"
[ "$(named CUDA_DEVICE_MEMORY_LIMIT_0=768m CUDA_MEM_LIMIT=1G "$program" fill)" = 248 ] || say "CUDA_DEVICE_MEMORY_LIMIT_0"
[ "$(named CUDA_MEM_LIMIT_0=1GB CUDA_MEM_LIMIT=1G "$program" fill 2>"$dir/log")" = 504 ] || say "a malformed one"
[ "$(cat "$dir/log")" = "vgpu: not set, as it must be bytes up to 2^48, with K, M, G or T or without: CUDA_MEM_LIMIT_0=1GB" ] ||
  say "one line about it, not: $(cat "$dir/log")"
named CUDA_MEM_LIMIT=1G CUDA_SHIM_DISABLE=1 "$program" card >/dev/null || say "switched off"
named CUDA_MEM_LIMIT_5=1G CUDA_CORE_LIMIT=0 "$program" card >/dev/null || say "another device's limit"
"$make_limits" "$dir/main" "$card" 1024
CUDA_MEM_LIMIT=2G CUDA_CORE_LIMIT=1 under memory || say "a directory wins over the names"

# a killed process gives its memory back to the container
"$make_limits" "$dir/main" "$card" 1600
mkfifo "$dir/held"
LD_PRELOAD=$lib CUDA_SHIM_CONFIG_DIR=$dir/main "$program" hold 500 >"$dir/held" &
holder=$!
read -r line <"$dir/held"
[ "$line" = held ] || say "$line"
[ "$(under fill)" = 56 ] || say "two contexts and 500 MiB leave 60"
kill -9 "$holder"
wait "$holder" 2>/dev/null || :
holder=
[ "$(under fill)" = 1080 ] || say "what the killed one held is there again"

# a neighbour is on the card, and in no list
"$make_limits" "$dir/main" "$card" 1024
mkfifo "$dir/neighbour"
"$program" hold 100 >"$dir/neighbour" &
holder=$!
read -r line <"$dir/neighbour"
[ "$line" = held ] || say "$line"
under memory || say "what NVML tells beside a neighbour"
kill -9 "$holder"
wait "$holder" 2>/dev/null || :
holder=

# corrupt at every byte of the header that means something, also truncated: one line, and nothing runs
for at in 0 4 8 12 16 20; do
  "$make_limits" "$dir/main" "$card" 1024
  printf '\377' | dd of="$dir/main/limits" bs=1 seek=$at conv=notrunc status=none
  under refused >/dev/null 2>"$dir/log" || say "byte $at"
  [ "$(wc -l <"$dir/log")" = 1 ] || say "byte $at: $(cat "$dir/log")"
done
"$make_limits" "$dir/main" "$card" 1024
: >"$dir/main/usage"
under refused >/dev/null 2>"$dir/log" || say "truncated"
"$make_limits" "$dir/main" GPU-00000000-1111-2222-3333-444444444444 1024
LD_PRELOAD=$lib CUDA_SHIM_CONFIG_DIR=$dir/main "$program" card >/dev/null 2>"$dir/log" && say "another card's limits"
grep -q 'name none of the devices' "$dir/log" || say "$(cat "$dir/log")"
echo "as told: limits on the fake driver"

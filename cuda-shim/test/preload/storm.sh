#!/bin/bash
# Many processes that take and give memory of every kind, killed at any point; the card itself says how much it ever gave.
#   storm.sh LIBRARY PROGRAM MAKE_LIMITS FAKE_GPU FAKE_DIRECTORY [PROCESSES [SECONDS]]
set -eu
lib=$1 program=$2 make_limits=$3 fake_gpu=$4 fake=$5 processes=${6:-16} seconds=${7:-5}
limit=2048 context=16
dir=$(mktemp -d)
pids=()
stop() { for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || :; done; wait 2>/dev/null; rm -rf "$dir"; }
trap stop EXIT
export LD_LIBRARY_PATH="$fake" CUDA_VISIBLE_DEVICES=0 FAKE_GPUS_CONTEXT_MIB=$context
say() { echo "storm.sh: $*" >&2; exit 1; }
"$make_limits" "$dir" GPU-02000200-0000-0000-0000-000000000000 $limit 3 $limit $context
begin() { # index seed
  LD_PRELOAD=$lib CUDA_SHIM_CONFIG_DIR=$dir "$program" churn "$2" >"$dir/out.$1" 2>"$dir/err.$1" &
  pids[$1]=$!
}
for ((i = 0; i < processes; i++)); do begin $i $i; done
killed=0
end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
  read -r -t 0.05 <> <(:) || :
  i=$((RANDOM % processes))
  kill -0 "${pids[$i]}" 2>/dev/null || say "a process ended by itself: $(cat "$dir/err.$i")"
  kill -9 "${pids[$i]}"
  wait "${pids[$i]}" 2>/dev/null || :
  killed=$((killed + 1))
  begin $i $((killed * 1000 + i))
done
peak=$("$fake_gpu" --state "$FAKE_GPUS_STATE" cards | awk '$1 == 0 { print int($5 / 1048576) }')
exact=$("$fake_gpu" --state "$FAKE_GPUS_STATE" cards | awk '$1 == 0 { print $5 }')
[ -z "$(cat "$dir"/err.*)" ] || say "$(cat "$dir"/err.*)"
[ "$killed" -ge 10 ] || say "only $killed killed: this shows nothing"
[ "$exact" -le $((limit << 20)) ] || say "the card gave $exact bytes, $((exact - (limit << 20))) more than the limit"
[ "$peak" -ge $((limit * 3 / 4)) ] || say "the card gave only $peak MiB: this shows nothing"
echo "$processes processes, $killed killed: the card gave at most $peak of $limit MiB"
